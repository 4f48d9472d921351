//! Lambda of [`cli_complete`](auth_functions::cli_complete).
use auth_functions::cli_complete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
