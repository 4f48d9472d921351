//! Lambda of [`session_delete_current`](auth_functions::session_delete_current).
use auth_functions::session_delete_current::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
