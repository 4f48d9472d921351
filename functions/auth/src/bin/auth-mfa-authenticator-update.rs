//! Lambda of [`mfa_authenticator_update`](auth_functions::mfa_authenticator_update).
use auth_functions::mfa_authenticator_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
