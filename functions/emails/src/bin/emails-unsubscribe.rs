//! Lambda of [`unsubscribe`](emails_functions::unsubscribe).
use emails_functions::unsubscribe::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
