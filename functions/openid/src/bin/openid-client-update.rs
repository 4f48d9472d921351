//! Lambda of [`client_update`](openid_functions::client_update).
use openid_functions::client_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
