//! Lambda of [`client_list`](openid_functions::client_list).
use openid_functions::client_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
