//! Lambda of `get_image`.
use content_functions::get_image::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle).await
}
