//! Lambda of [`resource_update`](openid_functions::resource_update).
use openid_functions::resource_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
