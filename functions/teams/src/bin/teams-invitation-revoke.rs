//! Lambda of [`invitation_revoke`](teams_functions::invitation_revoke).
use teams_functions::invitation_revoke::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
