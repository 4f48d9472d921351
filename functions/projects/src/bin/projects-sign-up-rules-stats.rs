//! Lambda of [`sign_up_rules_stats`](projects_functions::sign_up_rules_stats).
use projects_functions::sign_up_rules_stats::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
