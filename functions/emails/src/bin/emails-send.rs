//! Lambda of [`send`](emails_functions::send).
use emails_functions::send::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
