//! Operations that do not belong to an area, such as the health check and responses for features of
//! the SDKs that Gatelet does not have.

pub mod analytics_events_batch;
pub mod backend_urls;
pub mod check_feature_support;
pub mod check_version;
pub mod component_versions;
mod customers;
pub mod health;
pub mod payments_billing;
pub mod payments_products;
pub mod welcome;

use api::http::Register;

/// Registers every operation of this crate.
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
