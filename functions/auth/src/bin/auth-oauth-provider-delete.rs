//! Lambda of [`oauth_provider_delete`](auth_functions::oauth_provider_delete).
use auth_functions::oauth_provider_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
