//! Lambda of [`team_key_list`](keys_functions::team_key_list).
use keys_functions::team_key_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
