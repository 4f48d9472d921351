//! Lambda of [`authorization_show`](hosted_functions::authorization_show).
use hosted_functions::authorization_show::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_page(ROUTE, handle)
}
