//! Lambda of [`connected_account_token_own`](auth_functions::connected_account_token_own).
use auth_functions::connected_account_token_own::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
