//! Lambda of [`userinfo_form`](openid_functions::userinfo_form).
use openid_functions::userinfo_form::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
