//! Lambda of [`team_create`](teams_functions::team_create).
use teams_functions::team_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
