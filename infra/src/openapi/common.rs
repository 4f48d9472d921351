//! Errors that operations share: the layers and extractors of an interface return them, for example
//! the check of the access level. A route lists only the additional errors of its operation.

use std::collections::BTreeSet;

use api::content::Problem;
use api::http::{Interface, Verb};
use errors::ErrorCode;
use http::StatusCode;
use wire::level::Level;

use crate::operation::Operation;

/// Errors that every operation of the product API may return.
const EVERY: &[&str] = &["INTERNAL_ERROR"];
/// Errors of operations that read or write the table.
const TABLE: &[&str] = &["SERVICE_UNAVAILABLE"];
/// Errors of operations that parse a path, a query or a body.
const INPUT: &[&str] = &["SCHEMA_ERROR"];
/// Errors of operations whose method allows a body.
const BODY: &[&str] = &["BODY_PARSING_ERROR", "BODY_TOO_LARGE", "UNSUPPORTED_CONTENT_ENCODING"];
/// Errors of operations that require an access level (`Access<L>`).
const ACCESS: &[&str] = &[
    "ACCESS_TOKEN_EXPIRED",
    "ACCESS_TYPE_REQUIRED",
    "ACCESS_TYPE_WITHOUT_PROJECT_ID",
    "ADMIN_ACCESS_TOKEN_EXPIRED",
    "ADMIN_ACCESS_TOKEN_IS_NOT_ADMIN",
    "ADMIN_AUTHENTICATION_REQUIRED",
    "ANONYMOUS_AUTHENTICATION_NOT_ALLOWED",
    "BRANCH_DOES_NOT_EXIST",
    "CONFLICTING_HEADERS",
    "CURRENT_PROJECT_NOT_FOUND",
    "INVALID_ACCESS_TYPE",
    "INVALID_PROJECT_FOR_ACCESS_TOKEN",
    "INVALID_SECRET_SERVER_KEY",
    "INVALID_SUPER_SECRET_ADMIN_KEY",
    "OVERRIDE_KEY_NOT_SUPPORTED",
    "PROJECT_KEY_WITHOUT_ACCESS_TYPE",
    "RESTRICTED_USER_NOT_ALLOWED",
    "SERVER_AUTHENTICATION_REQUIRED",
    "UNPARSABLE_ACCESS_TOKEN",
    "UNPARSABLE_ADMIN_ACCESS_TOKEN",
];
/// Errors of operations that client access may call.
const CLIENT: &[&str] = &["INVALID_PUBLISHABLE_CLIENT_KEY", "PUBLISHABLE_CLIENT_KEY_REQUIRED_FOR_PROJECT"];
/// Errors of operations that client access may not call.
const NO_CLIENT: &[&str] = &["INSUFFICIENT_ACCESS_TYPE"];
/// Errors of operations that evaluate `If-Match`.
const VERSION: &[&str] = &["PRECONDITION_FAILED"];
/// Errors of rate-limited operations.
const LIMIT: &[&str] = &["RATE_LIMITED"];
/// Errors for unknown paths and unsupported methods.
pub const ANYWHERE: &[&str] = &["ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED"];

/// Every code that an operation may return: those that its route lists, and those that operations
/// share. Empty for pages and for operations for agents, which use the errors of JSON-RPC.
pub fn codes(operation: &Operation) -> BTreeSet<&'static str> {
    let own = operation.route.codes();
    match operation.route.interface {
        Interface::Content => own.chain([Problem::MethodNotAllowed.code(), Problem::InternalError.code()]).collect(),
        Interface::Agents | Interface::Pages => BTreeSet::new(),
        Interface::Product => own.chain(shared_codes(operation).into_iter().flatten().copied()).collect(),
    }
}

fn shared_codes(operation: &Operation) -> Vec<&'static [&'static str]> {
    let description = &operation.description;
    let mut groups = vec![EVERY];
    if description.level.is_some() || !operation.route.table.actions.is_empty() {
        groups.push(TABLE);
    }
    if description.reads_input {
        groups.push(INPUT);
    }
    if description.takes_version {
        groups.push(VERSION);
    }
    if operation.route.limit.is_some() || description.counts_reads {
        groups.push(LIMIT);
    }
    if operation.route.verb != Verb::Get {
        groups.push(BODY);
    }
    match description.level {
        Some(Level::Client) => groups.extend([ACCESS, CLIENT]),
        Some(Level::Server | Level::Admin) => groups.extend([ACCESS, NO_CLIENT]),
        None => {}
    }
    groups
}

/// The status of a code in the interface's catalog; `None` if the catalog does not contain the
/// code.
pub fn status(interface: Interface, code: &str) -> Option<StatusCode> {
    match interface {
        Interface::Content | Interface::Agents | Interface::Pages => {
            Problem::ALL.into_iter().find(|problem| problem.code() == code).map(Problem::status)
        }
        Interface::Product => code.parse().ok().map(ErrorCode::status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_codes_are_in_the_catalog() {
        for code in [EVERY, TABLE, INPUT, BODY, ACCESS, CLIENT, NO_CLIENT, VERSION, LIMIT, ANYWHERE].into_iter().flatten() {
            assert!(status(Interface::Product, code).is_some(), "{code}");
        }
    }
}
