//! Lambda of `get_post_page`.
use content_functions::get_post_page::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle)
}
