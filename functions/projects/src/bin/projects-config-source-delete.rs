//! Lambda of [`config_source_delete`](projects_functions::config_source_delete).
use projects_functions::config_source_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
