//! Lambda of [`user_list`](users_functions::user_list).
use users_functions::user_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
