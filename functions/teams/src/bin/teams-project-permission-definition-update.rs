//! Lambda of
//! [`project_permission_definition_update`](teams_functions::project_permission_definition_update).
use teams_functions::project_permission_definition_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
