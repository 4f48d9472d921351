//! Lambda of [`team_key_create`](keys_functions::team_key_create).
use keys_functions::team_key_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
