//! Lambda of
//! [`project_permission_definition_delete`](teams_functions::project_permission_definition_delete).
use teams_functions::project_permission_definition_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
