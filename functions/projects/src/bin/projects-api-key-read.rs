//! Lambda of [`api_key_read`](projects_functions::api_key_read).
use projects_functions::api_key_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
