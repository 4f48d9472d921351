//! Lambda of [`session_delete`](auth_functions::session_delete).
use auth_functions::session_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
