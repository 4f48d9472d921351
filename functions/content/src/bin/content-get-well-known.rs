//! Lambda of `get_well_known`.
use content_functions::get_well_known::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle)
}
