//! Lambda of [`oauth_callback`](auth_functions::oauth_callback).
use auth_functions::oauth_callback::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
