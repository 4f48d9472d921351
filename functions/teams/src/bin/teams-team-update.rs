//! Lambda of [`team_update`](teams_functions::team_update).
use teams_functions::team_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
