//! Lambda of [`user_delete`](users_functions::user_delete).
use users_functions::user_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
