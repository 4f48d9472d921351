//! Lambda of `get_server_card`.
use content_functions::get_server_card::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_content(ROUTE, handle)
}
