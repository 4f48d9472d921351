//! Lambda of [`secret_rotate`](webhooks_functions::secret_rotate).
use webhooks_functions::secret_rotate::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
