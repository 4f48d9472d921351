//! Lambda of [`internal_list`](projects_functions::internal_list).
use projects_functions::internal_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
