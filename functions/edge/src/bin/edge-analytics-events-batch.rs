//! Lambda of [`analytics_events_batch`](edge_functions::analytics_events_batch).
use edge_functions::analytics_events_batch::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
