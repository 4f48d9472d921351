//! Lambda of [`password_reset`](auth_functions::password_reset).
use auth_functions::password_reset::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
