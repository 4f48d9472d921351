//! Lambda of `mcp`.
use content_functions::mcp::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run_for_agents(ROUTE, handle)
}
