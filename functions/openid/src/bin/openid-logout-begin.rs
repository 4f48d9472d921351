//! Lambda of [`logout_begin`](openid_functions::logout_begin).
use openid_functions::logout_begin::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
