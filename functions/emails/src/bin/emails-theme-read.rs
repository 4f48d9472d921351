//! Lambda of [`theme_read`](emails_functions::theme_read).
use emails_functions::theme_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
