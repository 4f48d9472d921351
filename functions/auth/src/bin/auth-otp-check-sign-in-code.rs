//! Lambda of [`otp_check_sign_in_code`](auth_functions::otp_check_sign_in_code).
use auth_functions::otp_check_sign_in_code::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
