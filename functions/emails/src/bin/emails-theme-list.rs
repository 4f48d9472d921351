//! Lambda of [`theme_list`](emails_functions::theme_list).
use emails_functions::theme_list::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
