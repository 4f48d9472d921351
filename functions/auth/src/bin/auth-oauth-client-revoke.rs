//! Lambda of [`oauth_client_revoke`](auth_functions::oauth_client_revoke).
use auth_functions::oauth_client_revoke::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
