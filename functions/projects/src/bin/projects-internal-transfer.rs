//! Lambda of [`internal_transfer`](projects_functions::internal_transfer).
use projects_functions::internal_transfer::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
