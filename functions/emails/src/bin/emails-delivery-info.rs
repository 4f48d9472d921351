//! Lambda of [`delivery_info`](emails_functions::delivery_info).
use emails_functions::delivery_info::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
