//! Lambda of [`payments_products`](edge_functions::payments_products).
use edge_functions::payments_products::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
