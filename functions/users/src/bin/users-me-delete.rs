//! Lambda of [`me_delete`](users_functions::me_delete).
use users_functions::me_delete::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
