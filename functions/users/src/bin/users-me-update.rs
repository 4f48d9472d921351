//! Lambda of [`me_update`](users_functions::me_update).
use users_functions::me_update::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
