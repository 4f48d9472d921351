//! Lambda of [`team_delete`](teams_functions::team_delete).
use teams_functions::team_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
