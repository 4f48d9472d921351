//! Lambda of [`fallback`], behind `$default`.
use edge_functions::fallback;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    shared::http::run_router("edge-fallback", fallback::router).await
}
