//! Lambda of [`mfa_authenticator_begin`](auth_functions::mfa_authenticator_begin).
use auth_functions::mfa_authenticator_begin::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
