//! Lambda of [`unsubscribe_show`](emails_functions::unsubscribe_show).
use emails_functions::unsubscribe_show::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
