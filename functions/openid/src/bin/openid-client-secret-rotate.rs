//! Lambda of [`client_secret_rotate`](openid_functions::client_secret_rotate).
use openid_functions::client_secret_rotate::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
