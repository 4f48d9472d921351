//! Lambda of [`sign_up_rules_test`](projects_functions::sign_up_rules_test).
use projects_functions::sign_up_rules_test::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
