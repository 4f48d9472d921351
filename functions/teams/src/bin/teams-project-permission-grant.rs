//! Lambda of [`project_permission_grant`](teams_functions::project_permission_grant).
use teams_functions::project_permission_grant::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
