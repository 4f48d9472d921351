//! Lambda of [`oauth_device_authorize`](auth_functions::oauth_device_authorize).
use auth_functions::oauth_device_authorize::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
