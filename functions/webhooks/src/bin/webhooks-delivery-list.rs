//! Lambda of [`delivery_list`](webhooks_functions::delivery_list).
use webhooks_functions::delivery_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
