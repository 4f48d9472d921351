//! Permissions: ids, scopes and definitions.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use strum::VariantArray;
use utoipa::ToSchema;

/// The maximum number of permissions per scope in a project. The number is low because every
/// request reads all permissions.
pub const MAX_DEFINITIONS: usize = 100;
/// The maximum length of an id, in bytes.
const MAX_ID: usize = 64;
/// The maximum length of a description, in characters.
pub const MAX_DESCRIPTION: usize = 256;

/// The system permissions, which determine what a client may do with a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum System {
    /// Change the team.
    UpdateTeam,
    /// Delete the team.
    DeleteTeam,
    /// See the other members.
    ReadMembers,
    /// Remove other members.
    RemoveMembers,
    /// Invite new members.
    InviteMembers,
    /// Manage the team's API keys.
    ManageApiKeys,
}

impl System {
    /// Every system permission.
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

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

    /// The id, which begins with `$`.
    pub const fn id(self) -> &'static str {
        self.row().0
    }

    fn of(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|system| system.id() == id)
    }

    /// The id as a [`PermissionId`].
    pub fn permission(self) -> PermissionId {
        PermissionId(self.id().to_owned())
    }
}

/// The id of a permission: 1 to 64 characters from `a-z`, `0-9`, `_` and `:`, or the id of a system
/// permission.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, example = "read_invoices")]
pub struct PermissionId(pub(crate) String);

/// The text is not a valid permission id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {MAX_ID} characters from a-z, 0-9, _ and :, or the id of a system permission")]
pub struct PermissionRefusal;

impl PermissionId {
    /// Validates an id.
    pub fn parse(text: &str) -> Result<Self, PermissionRefusal> {
        let is_custom = (1..=MAX_ID).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b':');
        if is_custom || System::of(text).is_some() { Ok(Self(text.to_owned())) } else { Err(PermissionRefusal) }
    }

    /// The id as text.
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

wire::deserr_from!(PermissionId, String, |text| Self::parse(&text));

/// The scope of a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, deserr::Deserr)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum Scope {
    /// The permission applies within one team.
    Team,
    /// The permission applies in the whole project.
    Project,
}

impl Scope {
    /// The name of the scope in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Team => "team",
            Self::Project => "project",
        }
    }
}

/// A granted permission, as stored with a user or member: the key of a definition, or the id of a
/// system permission.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grant(pub String);

/// A permission defined by a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    pub(crate) key: u32,
    /// The scope of the permission.
    pub scope: Scope,
    /// A description of at most [`MAX_DESCRIPTION`] characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The permissions that this permission includes directly.
    #[serde(default)]
    pub contains: BTreeSet<PermissionId>,
}

/// A permission as defined by a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionSettings {
    /// Where the permission applies.
    pub scope: Scope,
    /// A description of at most [`MAX_DESCRIPTION`] characters.
    pub description: Option<String>,
    /// The permissions that this permission includes directly.
    pub contains: BTreeSet<PermissionId>,
}

/// A permission that the configuration no longer defines. If the configuration defines the
/// permission again, its former holders get the permission back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IdlePermission {
    pub(crate) key: u32,
    pub(crate) scope: Scope,
}

/// The events at which default permissions are granted.
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
    /// The scope of the permissions granted at this event.
    pub const fn scope(self) -> Scope {
        match self {
            Self::TeamCreator | Self::TeamMember => Scope::Team,
            Self::SignUp => Scope::Project,
        }
    }
}

/// The default permissions for each event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Defaults {
    pub(crate) team_creator: BTreeSet<PermissionId>,
    pub(crate) team_member: BTreeSet<PermissionId>,
    pub(crate) sign_up: BTreeSet<PermissionId>,
}

/// A definition in responses to administrators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PermissionDefinition {
    /// The id.
    pub id: PermissionId,
    /// A description of at most 256 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The permissions that this permission includes directly.
    pub contained_permission_ids: Vec<PermissionId>,
}
