//! Lambda of [`passkey_list`](auth_functions::passkey_list).
use auth_functions::passkey_list::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
