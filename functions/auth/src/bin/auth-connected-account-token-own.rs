//! Lambda of [`connected_account_token_own`](auth_functions::connected_account_token_own).
use auth_functions::connected_account_token_own::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
