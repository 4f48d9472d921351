//! Lambda of [`preference_update`](emails_functions::preference_update).
use emails_functions::preference_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
