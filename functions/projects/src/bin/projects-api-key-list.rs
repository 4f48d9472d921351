//! Lambda of [`api_key_list`](projects_functions::api_key_list).
use projects_functions::api_key_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
