//! Lambda of [`config_source_read`](projects_functions::config_source_read).
use projects_functions::config_source_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
