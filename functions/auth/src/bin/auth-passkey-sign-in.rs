//! Lambda of [`passkey_sign_in`](auth_functions::passkey_sign_in).
use auth_functions::passkey_sign_in::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
