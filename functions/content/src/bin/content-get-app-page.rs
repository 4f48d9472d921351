//! Lambda of `get_app_page`.
use content_functions::get_app_page::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle)
}
