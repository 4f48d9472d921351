//! Lambda of [`session_create`](auth_functions::session_create).
use auth_functions::session_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
