//! Lambda of [`template_update`](emails_functions::template_update).
use emails_functions::template_update::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
