//! Lambda of [`check_version`](edge_functions::check_version).
use edge_functions::check_version::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
