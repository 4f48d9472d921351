//! Lambda of [`client_register`](openid_functions::client_register).
use openid_functions::client_register::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
