//! Lambda of [`mfa_authenticator_delete`](auth_functions::mfa_authenticator_delete).
use auth_functions::mfa_authenticator_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
