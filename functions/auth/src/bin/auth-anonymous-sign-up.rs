//! Lambda of [`anonymous_sign_up`](auth_functions::anonymous_sign_up).
use auth_functions::anonymous_sign_up::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
