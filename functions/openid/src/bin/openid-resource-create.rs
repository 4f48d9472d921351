//! Lambda of [`resource_create`](openid_functions::resource_create).
use openid_functions::resource_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
