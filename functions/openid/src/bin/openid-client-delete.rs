//! Lambda of [`client_delete`](openid_functions::client_delete).
use openid_functions::client_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
