//! Lambda of [`internal_provider_set`](projects_functions::internal_provider_set).
use projects_functions::internal_provider_set::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
