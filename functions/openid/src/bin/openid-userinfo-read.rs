//! Lambda of [`userinfo_read`](openid_functions::userinfo_read).
use openid_functions::userinfo_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
