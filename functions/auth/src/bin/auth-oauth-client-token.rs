//! Lambda of [`oauth_client_token`](auth_functions::oauth_client_token).
use auth_functions::oauth_client_token::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
