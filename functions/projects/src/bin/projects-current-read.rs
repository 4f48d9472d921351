//! Lambda of [`current_read`](projects_functions::current_read).
use projects_functions::current_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
