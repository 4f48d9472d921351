//! Lambda of [`not_me_show`](auth_functions::not_me_show).
use auth_functions::not_me_show::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
