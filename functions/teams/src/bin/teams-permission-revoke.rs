//! Lambda of [`permission_revoke`](teams_functions::permission_revoke).
use teams_functions::permission_revoke::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
