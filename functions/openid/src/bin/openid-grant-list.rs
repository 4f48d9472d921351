//! Lambda of [`grant_list`](openid_functions::grant_list).
use openid_functions::grant_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
