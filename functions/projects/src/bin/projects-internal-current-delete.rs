//! Lambda of [`internal_current_delete`](projects_functions::internal_current_delete).
use projects_functions::internal_current_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
