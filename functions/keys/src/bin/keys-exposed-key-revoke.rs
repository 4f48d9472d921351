//! Lambda of [`exposed_key_revoke`](keys_functions::exposed_key_revoke).
use keys_functions::exposed_key_revoke::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
