//! Lambda of `get_openapi`.
use content_functions::get_openapi::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle)
}
