//! Lambda of [`theme_create`](emails_functions::theme_create).
use emails_functions::theme_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
