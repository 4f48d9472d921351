//! Lambda of [`grant_delete`](openid_functions::grant_delete).
use openid_functions::grant_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
