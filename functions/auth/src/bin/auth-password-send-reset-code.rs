//! Lambda of [`password_send_reset_code`](auth_functions::password_send_reset_code).
use auth_functions::password_send_reset_code::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
