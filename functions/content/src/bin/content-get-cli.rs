//! Lambda of `get_cli`.
use content_functions::get_cli::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle)
}
