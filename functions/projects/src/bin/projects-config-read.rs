//! Lambda of [`config_read`](projects_functions::config_read).
use projects_functions::config_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
