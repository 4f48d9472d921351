//! Lambda of [`api_key_update`](projects_functions::api_key_update).
use projects_functions::api_key_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
