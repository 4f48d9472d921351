//! Lambda of [`mfa_authenticator_list`](auth_functions::mfa_authenticator_list).
use auth_functions::mfa_authenticator_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
