//! Lambda of [`resource_read`](openid_functions::resource_read).
use openid_functions::resource_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
