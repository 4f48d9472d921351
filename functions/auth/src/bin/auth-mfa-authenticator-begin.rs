//! Lambda of [`mfa_authenticator_begin`](auth_functions::mfa_authenticator_begin).
use auth_functions::mfa_authenticator_begin::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
