//! Lambda of `a2a`.
use content_functions::a2a::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_for_agents(ROUTE, handle)
}
