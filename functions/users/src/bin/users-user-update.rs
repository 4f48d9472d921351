//! Lambda of [`user_update`](users_functions::user_update).
use users_functions::user_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
