//! Lambda of [`contact_channel_release_show`](users_functions::contact_channel_release_show).
use users_functions::contact_channel_release_show::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
