//! Lambda of [`issuer_metadata_read`](projects_functions::issuer_metadata_read).
use projects_functions::issuer_metadata_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
