//! Lambda of [`endpoint_list`](webhooks_functions::endpoint_list).
use webhooks_functions::endpoint_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
