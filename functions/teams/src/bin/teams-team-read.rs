//! Lambda of [`team_read`](teams_functions::team_read).
use teams_functions::team_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
