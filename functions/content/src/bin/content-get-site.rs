//! Lambda of `get_site`.
use content_functions::get_site::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle)
}
