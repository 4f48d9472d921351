//! Lambda of [`page_submit`](hosted_functions::page_submit).
use hosted_functions::page_submit::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_page(ROUTE, handle)
}
