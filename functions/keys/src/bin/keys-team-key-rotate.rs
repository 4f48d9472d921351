//! Lambda of [`team_key_rotate`](keys_functions::team_key_rotate).
use keys_functions::team_key_rotate::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
