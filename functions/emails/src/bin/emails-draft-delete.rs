//! Lambda of [`draft_delete`](emails_functions::draft_delete).
use emails_functions::draft_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
