//! Lambda of [`authorization_submit`](hosted_functions::authorization_submit).
use hosted_functions::authorization_submit::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_page(ROUTE, handle)
}
