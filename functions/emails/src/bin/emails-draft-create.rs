//! Lambda of [`draft_create`](emails_functions::draft_create).
use emails_functions::draft_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
