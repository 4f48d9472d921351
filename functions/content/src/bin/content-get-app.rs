//! Lambda of `get_app`.
use content_functions::get_app::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle)
}
