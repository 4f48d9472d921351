//! Lambda of [`session_refresh`](auth_functions::session_refresh).
use auth_functions::session_refresh::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
