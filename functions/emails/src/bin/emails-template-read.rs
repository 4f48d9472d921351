//! Lambda of [`template_read`](emails_functions::template_read).
use emails_functions::template_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
