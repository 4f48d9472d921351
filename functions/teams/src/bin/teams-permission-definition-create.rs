//! Lambda of [`permission_definition_create`](teams_functions::permission_definition_create).
use teams_functions::permission_definition_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
