//! Lambda of [`oauth_client_push`](auth_functions::oauth_client_push).
use auth_functions::oauth_client_push::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
