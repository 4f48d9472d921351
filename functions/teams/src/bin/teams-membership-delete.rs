//! Lambda of [`membership_delete`](teams_functions::membership_delete).
use teams_functions::membership_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
