//! Lambda of [`me_activity`](users_functions::me_activity).
use users_functions::me_activity::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
