//! Lambda of [`invitation_send_code`](teams_functions::invitation_send_code).
use teams_functions::invitation_send_code::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
