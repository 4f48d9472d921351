//! Lambda of `get_cli`.
use content_functions::get_cli::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle).await
}
