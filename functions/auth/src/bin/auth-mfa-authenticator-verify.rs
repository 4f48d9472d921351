//! Lambda of [`mfa_authenticator_verify`](auth_functions::mfa_authenticator_verify).
use auth_functions::mfa_authenticator_verify::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
