//! Lambda of `get_home`.
use content_functions::get_home::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle)
}
