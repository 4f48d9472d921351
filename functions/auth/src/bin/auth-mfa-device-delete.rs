//! Lambda of [`mfa_device_delete`](auth_functions::mfa_device_delete).
use auth_functions::mfa_device_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
