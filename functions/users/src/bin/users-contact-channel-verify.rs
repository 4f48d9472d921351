//! Lambda of [`contact_channel_verify`](users_functions::contact_channel_verify).
use users_functions::contact_channel_verify::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
