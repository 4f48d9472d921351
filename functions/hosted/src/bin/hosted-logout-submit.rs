//! Lambda of [`logout_submit`](hosted_functions::logout_submit).
use hosted_functions::logout_submit::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_page(ROUTE, handle)
}
