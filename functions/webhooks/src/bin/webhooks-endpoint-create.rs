//! Lambda of [`endpoint_create`](webhooks_functions::endpoint_create).
use webhooks_functions::endpoint_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
