//! Lambda of [`config_read`](projects_functions::config_read).
use projects_functions::config_read::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
