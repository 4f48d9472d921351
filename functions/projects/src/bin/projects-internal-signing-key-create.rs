//! Lambda of [`internal_signing_key_create`](projects_functions::internal_signing_key_create).
use projects_functions::internal_signing_key_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
