//! Lambda of [`mfa_recovery_codes_create`](auth_functions::mfa_recovery_codes_create).
use auth_functions::mfa_recovery_codes_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
