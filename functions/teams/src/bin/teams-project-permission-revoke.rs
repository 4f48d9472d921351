//! Lambda of [`project_permission_revoke`](teams_functions::project_permission_revoke).
use teams_functions::project_permission_revoke::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
