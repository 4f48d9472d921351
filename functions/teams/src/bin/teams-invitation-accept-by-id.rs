//! Lambda of [`invitation_accept_by_id`](teams_functions::invitation_accept_by_id).
use teams_functions::invitation_accept_by_id::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
