//! Lambda of [`endpoint_read`](webhooks_functions::endpoint_read).
use webhooks_functions::endpoint_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
