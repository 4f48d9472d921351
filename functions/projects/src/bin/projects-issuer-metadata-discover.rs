//! Lambda of [`issuer_metadata_discover`](projects_functions::issuer_metadata_discover).
use projects_functions::issuer_metadata_discover::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
