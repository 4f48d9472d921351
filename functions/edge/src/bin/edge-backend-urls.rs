//! Lambda of [`backend_urls`](edge_functions::backend_urls).
use edge_functions::backend_urls::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
