//! Lambda of [`template_create`](emails_functions::template_create).
use emails_functions::template_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
