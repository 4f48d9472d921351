//! Lambda of [`contact_channel_list`](users_functions::contact_channel_list).
use users_functions::contact_channel_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
