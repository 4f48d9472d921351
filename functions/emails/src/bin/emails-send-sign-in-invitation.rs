//! Lambda of [`send_sign_in_invitation`](emails_functions::send_sign_in_invitation).
use emails_functions::send_sign_in_invitation::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
