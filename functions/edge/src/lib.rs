//! Operations outside any area, the list of all operations, and the fallback for requests that
//! match none of them.

pub mod analytics_events_batch;
pub mod backend_urls;
pub mod check_feature_support;
pub mod check_version;
pub mod component_versions;
mod customers;
mod error_page;
pub mod fallback;
pub mod health;
mod nearest;
#[cfg(test)]
mod nearest_tests;
pub mod payments_billing;
pub mod payments_products;
pub mod welcome;

use api::http::Register;

/// The operations outside any area.
pub fn operations(register: &mut impl Register) {
    register.operation(health::ROUTE, health::handle);
    register.operation(welcome::ROUTE, welcome::handle);
    register.operation(check_version::ROUTE, check_version::handle);
    register.operation(check_feature_support::ROUTE, check_feature_support::handle);
    register.operation(backend_urls::ROUTE, backend_urls::handle);
    register.operation(payments_billing::ROUTE, payments_billing::handle);
    register.operation(payments_products::ROUTE, payments_products::handle);
    register.operation(analytics_events_batch::ROUTE, analytics_events_batch::handle);
    register.operation(component_versions::ROUTE, component_versions::handle);
}

/// All operations of the service. The gateway, the template renderer, the API document and the
/// contract tests visit this list.
pub fn all_operations(register: &mut impl Register) {
    content_functions::operations(register);
    auth_functions::operations(register);
    users_functions::operations(register);
    teams_functions::operations(register);
    emails_functions::operations(register);
    projects_functions::operations(register);
    keys_functions::operations(register);
    webhooks_functions::operations(register);
    operations(register);
}
