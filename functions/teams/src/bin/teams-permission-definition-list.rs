//! Lambda of [`permission_definition_list`](teams_functions::permission_definition_list).
use teams_functions::permission_definition_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
