//! Lambda of [`endpoint_update`](webhooks_functions::endpoint_update).
use webhooks_functions::endpoint_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
