//! Lambda of [`theme_read`](emails_functions::theme_read).
use emails_functions::theme_read::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
