//! Lambda of [`team_list`](teams_functions::team_list).
use teams_functions::team_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
