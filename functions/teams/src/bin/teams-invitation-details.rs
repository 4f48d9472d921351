//! Lambda of [`invitation_details`](teams_functions::invitation_details).
use teams_functions::invitation_details::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
