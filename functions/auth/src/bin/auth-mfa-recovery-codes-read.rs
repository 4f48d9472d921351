//! Lambda of [`mfa_recovery_codes_read`](auth_functions::mfa_recovery_codes_read).
use auth_functions::mfa_recovery_codes_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
