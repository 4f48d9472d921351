//! Lambda of [`user_key_read`](keys_functions::user_key_read).
use keys_functions::user_key_read::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
