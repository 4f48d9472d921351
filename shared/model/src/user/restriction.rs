//! Why a user may not do everything yet, or any more.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A restriction that an administrator set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restriction {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private_details: Option<String>,
}

/// Why a user is restricted; the first that applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RestrictedReason {
    #[default]
    Anonymous,
    EmailNotVerified,
    RestrictedByAdministrator,
}
