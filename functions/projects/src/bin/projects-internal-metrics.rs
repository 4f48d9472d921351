//! Lambda of [`internal_metrics`](projects_functions::internal_metrics).
use projects_functions::internal_metrics::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
