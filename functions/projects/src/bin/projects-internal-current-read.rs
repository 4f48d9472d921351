//! Lambda of [`internal_current_read`](projects_functions::internal_current_read).
use projects_functions::internal_current_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
