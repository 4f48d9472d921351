//! Lambda of [`team_key_create`](keys_functions::team_key_create).
use keys_functions::team_key_create::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
