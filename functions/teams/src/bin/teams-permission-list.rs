//! Lambda of [`permission_list`](teams_functions::permission_list).
use teams_functions::permission_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
