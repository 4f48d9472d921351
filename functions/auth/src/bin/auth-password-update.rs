//! Lambda of [`password_update`](auth_functions::password_update).
use auth_functions::password_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
