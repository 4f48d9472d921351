//! Lambda of [`contact_channel_check_code`](users_functions::contact_channel_check_code).
use users_functions::contact_channel_check_code::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
