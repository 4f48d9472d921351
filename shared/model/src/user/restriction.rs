//! Restrictions of a user.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A restriction set by an administrator, a server or a sign-up rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restriction {
    /// The reason, which the user can see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Details that the user cannot see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private_details: Option<String>,
}

/// Why a user is restricted: the first reason that applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RestrictedReason {
    /// The user has not signed up yet.
    #[default]
    Anonymous,
    /// The project requires a verified primary address.
    EmailNotVerified,
    /// An administrator, a server or a sign-up rule restricted the user.
    RestrictedByAdministrator,
}
