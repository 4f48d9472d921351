//! Lambda of [`render`](emails_functions::render), which runs templates in a separate process.
use emails_functions::render::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    email::sandbox::install();
    api::http::run(ROUTE, handle)
}
