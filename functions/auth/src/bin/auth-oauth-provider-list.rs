//! Lambda of [`oauth_provider_list`](auth_functions::oauth_provider_list).
use auth_functions::oauth_provider_list::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
