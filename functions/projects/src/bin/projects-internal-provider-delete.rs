//! Lambda of [`internal_provider_delete`](projects_functions::internal_provider_delete).
use projects_functions::internal_provider_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
