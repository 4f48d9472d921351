//! Lambda of [`connected_account_token`](auth_functions::connected_account_token).
use auth_functions::connected_account_token::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
