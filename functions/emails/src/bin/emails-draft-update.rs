//! Lambda of [`draft_update`](emails_functions::draft_update).
use emails_functions::draft_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
