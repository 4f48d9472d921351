//! What a permission is: its id, its scope, its definition.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How many permissions of each scope a project defines at most: every request reads them.
pub const MAX_DEFINITIONS: usize = 100;
/// Longest id, in bytes.
const MAX_ID: usize = 64;
/// Longest description, in characters.
pub const MAX_DESCRIPTION: usize = 256;

/// The permissions that decide what a client may do with a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    UpdateTeam,
    DeleteTeam,
    ReadMembers,
    RemoveMembers,
    InviteMembers,
    ManageApiKeys,
}

impl System {
    pub const ALL: [Self; 6] =
        [Self::UpdateTeam, Self::DeleteTeam, Self::ReadMembers, Self::RemoveMembers, Self::InviteMembers, Self::ManageApiKeys];

    pub(crate) const fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::UpdateTeam => ("$update_team", "Change the team"),
            Self::DeleteTeam => ("$delete_team", "Delete the team"),
            Self::ReadMembers => ("$read_members", "See the other members"),
            Self::RemoveMembers => ("$remove_members", "Remove other members"),
            Self::InviteMembers => ("$invite_members", "Invite people"),
            Self::ManageApiKeys => ("$manage_api_keys", "Manage the team's API keys"),
        }
    }

    pub const fn id(self) -> &'static str {
        self.row().0
    }

    fn of(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|system| system.id() == id)
    }

    pub fn permission(self) -> PermissionId {
        PermissionId(self.id().to_owned())
    }
}

/// Id of a permission: 1 to 64 of `a-z`, `0-9`, `_` and `:`, or one of the system's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, example = "read_invoices")]
pub struct PermissionId(pub(crate) String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {MAX_ID} of a-z, 0-9, _ and :, or a permission of the system")]
pub struct NotAPermission;

impl PermissionId {
    pub fn parse(text: &str) -> Result<Self, NotAPermission> {
        let is_custom = (1..=MAX_ID).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b':');
        if is_custom || System::of(text).is_some() { Ok(Self(text.to_owned())) } else { Err(NotAPermission) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_system(&self) -> bool {
        self.0.starts_with('$')
    }
}

impl fmt::Display for PermissionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: deserr::DeserializeError> deserr::Deserr<E> for PermissionId {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        let text = String::deserialize_from_value(value, location)?;
        Self::parse(&text).map_err(|error| wire::problem::rejected(&error, location))
    }
}

/// Where a permission counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Team,
    Project,
}

impl Scope {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Team => "team",
            Self::Project => "project",
        }
    }
}

/// What a user or a member is given: the key of a definition, or a permission of the system.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grant(pub String);

/// A permission that a project defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    pub(crate) key: u32,
    pub scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default)]
    pub contains: BTreeSet<PermissionId>,
}

/// Who is given permissions by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// Creating a team.
    TeamCreator,
    /// Joining a team.
    TeamMember,
    /// Signing up.
    SignUp,
}

impl Occasion {
    pub const fn scope(self) -> Scope {
        match self {
            Self::TeamCreator | Self::TeamMember => Scope::Team,
            Self::SignUp => Scope::Project,
        }
    }
}

/// What is given by default, by occasion.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Defaults {
    pub(crate) team_creator: BTreeSet<PermissionId>,
    pub(crate) team_member: BTreeSet<PermissionId>,
    pub(crate) sign_up: BTreeSet<PermissionId>,
}

/// A definition, as an administrator reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PermissionDefinition {
    pub id: PermissionId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub contained_permission_ids: Vec<PermissionId>,
}
