//! Lambda of [`internal_current_update`](projects_functions::internal_current_update).
use projects_functions::internal_current_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
