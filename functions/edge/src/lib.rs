//! What no area owns: the list of all operations, and the answer to whatever none of them matches.

pub mod backend_urls;
pub mod check_feature_support;
pub mod check_version;
mod error_page;
pub mod fallback;
pub mod health;
pub mod welcome;

use api::http::Register;

/// The operations that belong to no area.
pub fn operations(register: &mut impl Register) {
    register.operation(health::ROUTE, health::handle);
    register.operation(welcome::ROUTE, welcome::handle);
    register.operation(check_version::ROUTE, check_version::handle);
    register.operation(check_feature_support::ROUTE, check_feature_support::handle);
    register.operation(backend_urls::ROUTE, backend_urls::handle);
}

/// Every operation of the service: gateway, template, API document and contract tests visit this list.
pub fn all_operations(register: &mut impl Register) {
    content_functions::operations(register);
    auth_functions::operations(register);
    users_functions::operations(register);
    teams_functions::operations(register);
    emails_functions::operations(register);
    projects_functions::operations(register);
    operations(register);
}
