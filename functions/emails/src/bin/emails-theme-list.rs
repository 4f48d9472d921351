//! Lambda of [`theme_list`](emails_functions::theme_list).
use emails_functions::theme_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
