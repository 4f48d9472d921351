//! Lambda of [`permission_grant`](teams_functions::permission_grant).
use teams_functions::permission_grant::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
