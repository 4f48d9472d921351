//! Lambda of [`user_key_create`](keys_functions::user_key_create).
use keys_functions::user_key_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
