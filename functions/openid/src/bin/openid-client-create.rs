//! Lambda of [`client_create`](openid_functions::client_create).
use openid_functions::client_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
