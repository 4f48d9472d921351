//! Lambda of [`user_key_check`](keys_functions::user_key_check).
use keys_functions::user_key_check::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
