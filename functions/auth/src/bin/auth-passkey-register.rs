//! Lambda of [`passkey_register`](auth_functions::passkey_register).
use auth_functions::passkey_register::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
