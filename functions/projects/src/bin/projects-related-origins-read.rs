//! Lambda of [`related_origins_read`](projects_functions::related_origins_read).
use projects_functions::related_origins_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
