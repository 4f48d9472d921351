//! Lambda of [`endpoint_delete`](webhooks_functions::endpoint_delete).
use webhooks_functions::endpoint_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
