//! Lambda of [`jwks_read`](projects_functions::jwks_read).
use projects_functions::jwks_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
