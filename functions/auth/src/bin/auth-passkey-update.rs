//! Lambda of [`passkey_update`](auth_functions::passkey_update).
use auth_functions::passkey_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
