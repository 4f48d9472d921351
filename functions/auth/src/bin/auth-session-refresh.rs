//! Lambda of [`session_refresh`](auth_functions::session_refresh).
use auth_functions::session_refresh::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
