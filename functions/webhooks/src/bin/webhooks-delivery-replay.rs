//! Lambda of [`delivery_replay`](webhooks_functions::delivery_replay).
use webhooks_functions::delivery_replay::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
