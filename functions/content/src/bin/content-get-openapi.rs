//! Lambda of `get_openapi`.
use content_functions::get_openapi::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle).await
}
