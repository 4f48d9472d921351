//! Lambda of [`template_list`](emails_functions::template_list).
use emails_functions::template_list::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
