//! Lambda of [`team_delete`](teams_functions::team_delete).
use teams_functions::team_delete::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
