//! Lambda of [`passkey_initiate_registration`](auth_functions::passkey_initiate_registration).
use auth_functions::passkey_initiate_registration::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
