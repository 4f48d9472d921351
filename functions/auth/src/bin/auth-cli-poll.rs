//! Lambda of [`cli_poll`](auth_functions::cli_poll).
use auth_functions::cli_poll::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
