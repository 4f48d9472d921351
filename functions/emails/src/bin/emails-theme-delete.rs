//! Lambda of [`theme_delete`](emails_functions::theme_delete).
use emails_functions::theme_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
