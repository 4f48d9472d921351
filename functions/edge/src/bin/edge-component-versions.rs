//! Lambda of [`component_versions`](edge_functions::component_versions).
use edge_functions::component_versions::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
