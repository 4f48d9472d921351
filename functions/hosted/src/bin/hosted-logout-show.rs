//! Lambda of [`logout_show`](hosted_functions::logout_show).
use hosted_functions::logout_show::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_page(ROUTE, handle)
}
