//! Lambda of [`passkey_initiate_authentication`](auth_functions::passkey_initiate_authentication).
use auth_functions::passkey_initiate_authentication::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
