//! Lambda of [`health`](edge_functions::health).
use edge_functions::health::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
