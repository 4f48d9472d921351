//! Lambda of [`challenge_create`](auth_functions::challenge_create).
use auth_functions::challenge_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
