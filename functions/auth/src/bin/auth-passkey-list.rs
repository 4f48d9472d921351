//! Lambda of [`passkey_list`](auth_functions::passkey_list).
use auth_functions::passkey_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
