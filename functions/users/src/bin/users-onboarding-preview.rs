//! Lambda of [`onboarding_preview`](users_functions::onboarding_preview).
use users_functions::onboarding_preview::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
