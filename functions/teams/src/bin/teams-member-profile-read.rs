//! Lambda of [`member_profile_read`](teams_functions::member_profile_read).
use teams_functions::member_profile_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
