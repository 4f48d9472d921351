//! Lambda of [`session_list`](auth_functions::session_list).
use auth_functions::session_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
