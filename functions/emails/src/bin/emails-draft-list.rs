//! Lambda of [`draft_list`](emails_functions::draft_list).
use emails_functions::draft_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
