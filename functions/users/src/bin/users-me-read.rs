//! Lambda of [`me_read`](users_functions::me_read).
use users_functions::me_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
