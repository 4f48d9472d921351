//! Lambda of [`not_me`](auth_functions::not_me).
use auth_functions::not_me::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
