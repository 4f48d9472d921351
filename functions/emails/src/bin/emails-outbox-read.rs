//! Lambda of [`outbox_read`](emails_functions::outbox_read).
use emails_functions::outbox_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
