//! Lambda of [`contact_channel_release`](users_functions::contact_channel_release).
use users_functions::contact_channel_release::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
