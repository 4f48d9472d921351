//! Lambda of [`resource_delete`](openid_functions::resource_delete).
use openid_functions::resource_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
