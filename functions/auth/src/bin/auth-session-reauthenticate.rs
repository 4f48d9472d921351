//! Lambda of [`session_reauthenticate`](auth_functions::session_reauthenticate).
use auth_functions::session_reauthenticate::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
