//! Lambda of [`internal_list`](emails_functions::internal_list).
use emails_functions::internal_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
