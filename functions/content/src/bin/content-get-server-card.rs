//! Lambda of `get_server_card`.
use content_functions::get_server_card::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle).await
}
