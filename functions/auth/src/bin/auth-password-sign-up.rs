//! Lambda of [`password_sign_up`](auth_functions::password_sign_up).
use auth_functions::password_sign_up::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
