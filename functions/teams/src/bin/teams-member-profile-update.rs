//! Lambda of [`member_profile_update`](teams_functions::member_profile_update).
use teams_functions::member_profile_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
