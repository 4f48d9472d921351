//! Lambda of [`template_delete`](emails_functions::template_delete).
use emails_functions::template_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
