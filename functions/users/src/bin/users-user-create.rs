//! Lambda of [`user_create`](users_functions::user_create).
use users_functions::user_create::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
