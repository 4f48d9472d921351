//! Lambda of [`internal_create`](projects_functions::internal_create).
use projects_functions::internal_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
