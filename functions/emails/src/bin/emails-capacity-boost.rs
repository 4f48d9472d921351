//! Lambda of [`capacity_boost`](emails_functions::capacity_boost).
use emails_functions::capacity_boost::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
