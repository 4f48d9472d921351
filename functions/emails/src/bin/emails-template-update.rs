//! Lambda of [`template_update`](emails_functions::template_update), which runs templates in a
//! separate process.
use emails_functions::template_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    email::sandbox::install();
    api::http::run(ROUTE, handle)
}
