//! Lambda of [`internal_audit_log`](projects_functions::internal_audit_log).
use projects_functions::internal_audit_log::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
