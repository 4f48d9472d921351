//! Lambda of [`payments_billing`](edge_functions::payments_billing).
use edge_functions::payments_billing::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
