//! Lambda of [`oauth_provider_list`](auth_functions::oauth_provider_list).
use auth_functions::oauth_provider_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
