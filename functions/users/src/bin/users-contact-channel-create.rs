//! Lambda of [`contact_channel_create`](users_functions::contact_channel_create).
use users_functions::contact_channel_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
