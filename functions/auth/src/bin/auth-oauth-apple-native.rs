//! Lambda of [`oauth_apple_native`](auth_functions::oauth_apple_native).
use auth_functions::oauth_apple_native::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
