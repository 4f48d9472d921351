//! Lambda of [`password_set`](auth_functions::password_set).
use auth_functions::password_set::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
