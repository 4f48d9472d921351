//! Lambda of [`outbox_update`](emails_functions::outbox_update).
use emails_functions::outbox_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
