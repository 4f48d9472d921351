//! Lambda of [`resource_list`](openid_functions::resource_list).
use openid_functions::resource_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
