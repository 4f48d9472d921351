//! Lambda of [`authorization_complete`](openid_functions::authorization_complete).
use openid_functions::authorization_complete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
