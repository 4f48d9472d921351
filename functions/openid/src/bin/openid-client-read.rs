//! Lambda of [`client_read`](openid_functions::client_read).
use openid_functions::client_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
