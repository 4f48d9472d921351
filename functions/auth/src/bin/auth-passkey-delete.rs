//! Lambda of [`passkey_delete`](auth_functions::passkey_delete).
use auth_functions::passkey_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
