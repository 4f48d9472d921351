//! Lambda of [`fallback`], behind `$default`.
use edge_functions::fallback;
use shared::App;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    shared::http::run_router(fallback::NAME, App::without_secret, fallback::router).await
}
