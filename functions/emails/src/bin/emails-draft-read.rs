//! Lambda of [`draft_read`](emails_functions::draft_read).
use emails_functions::draft_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
