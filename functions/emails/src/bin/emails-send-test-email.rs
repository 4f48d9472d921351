//! Lambda of [`send_test_email`](emails_functions::send_test_email).
use emails_functions::send_test_email::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
