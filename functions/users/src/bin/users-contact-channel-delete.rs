//! Lambda of [`contact_channel_delete`](users_functions::contact_channel_delete).
use users_functions::contact_channel_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
