//! Lambda of [`membership_create`](teams_functions::membership_create).
use teams_functions::membership_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
