//! Lambda of [`invitation_check_code`](teams_functions::invitation_check_code).
use teams_functions::invitation_check_code::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
