//! Lambda of [`config_override_replace`](projects_functions::config_override_replace).
use projects_functions::config_override_replace::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
