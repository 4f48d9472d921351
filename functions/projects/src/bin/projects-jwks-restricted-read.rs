//! Lambda of [`jwks_restricted_read`](projects_functions::jwks_restricted_read).
use projects_functions::jwks_restricted_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
