//! Lambda of [`outbox_list`](emails_functions::outbox_list).
use emails_functions::outbox_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
