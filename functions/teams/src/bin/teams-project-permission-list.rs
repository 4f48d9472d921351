//! Lambda of [`project_permission_list`](teams_functions::project_permission_list).
use teams_functions::project_permission_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
