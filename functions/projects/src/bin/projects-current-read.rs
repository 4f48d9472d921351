//! Lambda of [`current_read`](projects_functions::current_read).
use projects_functions::current_read::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
