//! Lambda of [`authorization_begin`](openid_functions::authorization_begin).
use openid_functions::authorization_begin::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
