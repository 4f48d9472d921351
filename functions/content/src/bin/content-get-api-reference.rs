//! Lambda of `get_api_reference`.
use content_functions::get_api_reference::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle)
}
