//! Lambda of [`oauth_client_introspect`](auth_functions::oauth_client_introspect).
use auth_functions::oauth_client_introspect::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
