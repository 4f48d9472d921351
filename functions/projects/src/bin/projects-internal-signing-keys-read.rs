//! Lambda of [`internal_signing_keys_read`](projects_functions::internal_signing_keys_read).
use projects_functions::internal_signing_keys_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
