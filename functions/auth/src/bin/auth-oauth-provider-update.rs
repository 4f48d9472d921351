//! Lambda of [`oauth_provider_update`](auth_functions::oauth_provider_update).
use auth_functions::oauth_provider_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
