//! Lambda of `get_document`.
use content_functions::get_document::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle)
}
