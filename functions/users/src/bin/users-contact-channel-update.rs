//! Lambda of [`contact_channel_update`](users_functions::contact_channel_update).
use users_functions::contact_channel_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
