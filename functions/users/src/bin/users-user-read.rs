//! Lambda of [`user_read`](users_functions::user_read).
use users_functions::user_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
