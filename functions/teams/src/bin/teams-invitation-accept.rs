//! Lambda of [`invitation_accept`](teams_functions::invitation_accept).
use teams_functions::invitation_accept::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
