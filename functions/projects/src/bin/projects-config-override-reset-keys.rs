//! Lambda of [`config_override_reset_keys`](projects_functions::config_override_reset_keys).
use projects_functions::config_override_reset_keys::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
