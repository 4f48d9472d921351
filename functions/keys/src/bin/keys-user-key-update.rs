//! Lambda of [`user_key_update`](keys_functions::user_key_update).
use keys_functions::user_key_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
