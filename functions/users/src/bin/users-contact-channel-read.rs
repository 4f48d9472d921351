//! Lambda of [`contact_channel_read`](users_functions::contact_channel_read).
use users_functions::contact_channel_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
