//! Lambda of [`oauth_provider_read`](auth_functions::oauth_provider_read).
use auth_functions::oauth_provider_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
