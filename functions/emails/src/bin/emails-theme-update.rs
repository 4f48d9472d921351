//! Lambda of [`theme_update`](emails_functions::theme_update).
use emails_functions::theme_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
