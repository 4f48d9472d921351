//! Lambda of [`preference_list`](emails_functions::preference_list).
use emails_functions::preference_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
