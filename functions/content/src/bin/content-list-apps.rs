//! Lambda of `list_apps`.
use content_functions::list_apps::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle)
}
