//! Lambda of [`connected_account_list`](auth_functions::connected_account_list).
use auth_functions::connected_account_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
