//! Lambda of [`oauth_callback_form`](auth_functions::oauth_callback_form).
use auth_functions::oauth_callback_form::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
