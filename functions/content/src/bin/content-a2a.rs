//! Lambda of `a2a`.
use content_functions::a2a::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run_for_agents(ROUTE, handle).await
}
