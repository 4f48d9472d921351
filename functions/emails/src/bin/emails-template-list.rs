//! Lambda of [`template_list`](emails_functions::template_list).
use emails_functions::template_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
