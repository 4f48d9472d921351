//! Lambda of [`oauth_token`](auth_functions::oauth_token).
use auth_functions::oauth_token::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
