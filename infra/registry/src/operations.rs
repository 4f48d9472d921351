//! The list of all operations.

use api::http::Register;

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
    openid_functions::operations(register);
    webhooks_functions::operations(register);
    hosted_functions::operations(register);
    edge_functions::operations(register);
}
