//! Lambda of [`config_override_update`](projects_functions::config_override_update).
use projects_functions::config_override_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
