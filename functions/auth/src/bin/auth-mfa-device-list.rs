//! Lambda of [`mfa_device_list`](auth_functions::mfa_device_list).
use auth_functions::mfa_device_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
