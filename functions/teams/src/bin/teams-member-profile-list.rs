//! Lambda of [`member_profile_list`](teams_functions::member_profile_list).
use teams_functions::member_profile_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
