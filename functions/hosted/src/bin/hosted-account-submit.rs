//! Lambda of [`account_submit`](hosted_functions::account_submit).
use hosted_functions::account_submit::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_page(ROUTE, handle)
}
