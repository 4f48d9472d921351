//! Lambda of [`oauth_provider_create`](auth_functions::oauth_provider_create).
use auth_functions::oauth_provider_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
