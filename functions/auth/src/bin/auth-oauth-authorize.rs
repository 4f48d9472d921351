//! Lambda of [`oauth_authorize`](auth_functions::oauth_authorize).
use auth_functions::oauth_authorize::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
