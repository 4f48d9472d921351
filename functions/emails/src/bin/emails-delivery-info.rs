//! Lambda of [`delivery_info`](emails_functions::delivery_info).
use emails_functions::delivery_info::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
