//! Lambda of [`invitation_list`](teams_functions::invitation_list).
use teams_functions::invitation_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
