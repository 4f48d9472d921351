//! Lambda of [`jwks_anonymous_read`](projects_functions::jwks_anonymous_read).
use projects_functions::jwks_anonymous_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
