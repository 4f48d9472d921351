//! Lambda of [`page_show`](hosted_functions::page_show).
use hosted_functions::page_show::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_page(ROUTE, handle)
}
