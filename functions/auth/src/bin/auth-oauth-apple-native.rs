//! Lambda of [`oauth_apple_native`](auth_functions::oauth_apple_native).
use auth_functions::oauth_apple_native::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
