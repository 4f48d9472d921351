//! Lambda of [`me_delete`](users_functions::me_delete).
use users_functions::me_delete::{ROUTE, handle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle).await
}
