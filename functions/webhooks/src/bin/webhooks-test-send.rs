//! Lambda of [`test_send`](webhooks_functions::test_send).
use webhooks_functions::test_send::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
