//! Lambda of `get_image`.
use content_functions::get_image::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle)
}
