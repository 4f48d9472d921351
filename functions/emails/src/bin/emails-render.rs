//! Lambda of [`render`](emails_functions::render), which runs templates in a process of its own.
use emails_functions::render::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    shared::mail::sandbox::install();
    run()
}

#[tokio::main(flavor = "current_thread")]
async fn run() -> Result<(), lambda_http::Error> {
    shared::http::run(ROUTE, handle).await
}
