//! Lambda of [`check_feature_support`](edge_functions::check_feature_support).
use edge_functions::check_feature_support::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
