//! Lambda of [`welcome`](edge_functions::welcome).
use edge_functions::welcome::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
