//! Lambda of [`cli_create`](auth_functions::cli_create).
use auth_functions::cli_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
