//! Lambda of [`oauth_cross_domain`](auth_functions::oauth_cross_domain).
use auth_functions::oauth_cross_domain::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
