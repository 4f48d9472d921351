//! Lambda of [`account_show`](hosted_functions::account_show).
use hosted_functions::account_show::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_page(ROUTE, handle)
}
