//! Lambda of [`permission_definition_delete`](teams_functions::permission_definition_delete).
use teams_functions::permission_definition_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
