//! Lambda of [`session_delete_all`](auth_functions::session_delete_all).
use auth_functions::session_delete_all::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
