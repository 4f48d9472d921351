//! Lambda of [`managed_onboarding_list`](emails_functions::managed_onboarding_list).
use emails_functions::managed_onboarding_list::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
