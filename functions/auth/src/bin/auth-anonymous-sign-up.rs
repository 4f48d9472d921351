//! Lambda of [`anonymous_sign_up`](auth_functions::anonymous_sign_up).
use auth_functions::anonymous_sign_up::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
