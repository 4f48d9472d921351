//! Lambda of [`connected_account_token_of`](auth_functions::connected_account_token_of).
use auth_functions::connected_account_token_of::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
