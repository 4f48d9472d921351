//! Lambda of [`config_override_read`](projects_functions::config_override_read).
use projects_functions::config_override_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
