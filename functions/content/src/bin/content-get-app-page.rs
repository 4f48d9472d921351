//! Lambda of `get_app_page`.
use content_functions::get_app_page::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle).await
}
