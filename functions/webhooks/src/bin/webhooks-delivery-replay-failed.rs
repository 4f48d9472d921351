//! Lambda of [`delivery_replay_failed`](webhooks_functions::delivery_replay_failed).
use webhooks_functions::delivery_replay_failed::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
