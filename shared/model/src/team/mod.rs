//! Teams and their members.

pub mod invitation;
pub mod view;

use std::collections::BTreeSet;

use crypto::digest::Digest;
use deserr::Deserr;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::change::Change;
use wire::id::{TeamId, UserId};
use wire::level::Level;
use wire::problem::Problems;

use crate::metadata::Metadata;
use crate::owned_key::OwnedKeys;
use crate::permission::{Grant, PermissionId, Rbac, Scope, System};
use crate::profile_image::ProfileImage;
use crate::text::line;
use crate::user::User;
use crate::user::notices::Notices;
use crate::user::reference::UserRef;
use crate::user::values::DisplayName;

/// The name of a user's personal team if the user has neither a name nor a primary address.
pub const NAMELESS: &str = "Personal team";

/// A team of users, as stored in the table.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Team {
    /// The id of the team.
    pub id: TeamId,
    /// The name: one line of at most 256 characters, which may be empty.
    pub display_name: String,
    /// When the team was created.
    pub created_at: Timestamp,
    /// The user who created the team with client access, and against whose quota the team counts.
    /// Absent if a server or a project setting created the team.
    pub founder: Option<UserId>,
    /// The picture.
    pub profile_image_url: Option<String>,
    /// The digest of the picture, if this service stores it.
    pub uploaded_image: Option<Digest>,
    /// Metadata that the clients of members read and write.
    #[serde(default, with = "crate::text::json", skip_serializing_if = "Option::is_none")]
    pub client_metadata: Option<Metadata>,
    /// Metadata that the clients of members read and servers write.
    #[serde(default, with = "crate::text::json", skip_serializing_if = "Option::is_none")]
    pub client_read_only_metadata: Option<Metadata>,
    /// Metadata that only servers read and write.
    #[serde(default, with = "crate::text::json", skip_serializing_if = "Option::is_none")]
    pub server_metadata: Option<Metadata>,
    /// The API keys.
    #[serde(default, skip_serializing_if = "OwnedKeys::is_empty")]
    pub api_keys: OwnedKeys,
    /// The state of the notices to members who can manage the team's API keys.
    #[serde(default, skip_serializing_if = "Notices::is_none")]
    pub notices: Notices,
}

/// A member of a team, without the member's permissions.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// When the user joined.
    pub joined_at: Timestamp,
    /// The member's name in this team; absent if the user's own name is used.
    pub display_name: Option<String>,
    /// The member's picture in this team; absent if the user's own picture is used.
    pub profile_image_url: Option<String>,
    /// The digest of the member's picture, if this service stores it.
    pub uploaded_image: Option<Digest>,
}

impl Member {
    /// A new member, who joins at `now`.
    pub fn new(now: Timestamp) -> Self {
        Self { joined_at: now, display_name: None, profile_image_url: None, uploaded_image: None }
    }
}

impl Team {
    /// A new team without a picture or metadata.
    pub fn new(id: TeamId, display_name: String, now: Timestamp) -> Self {
        Self {
            id,
            display_name,
            created_at: now,
            founder: None,
            profile_image_url: None,
            uploaded_image: None,
            client_metadata: None,
            client_read_only_metadata: None,
            server_metadata: None,
            api_keys: OwnedKeys::default(),
            notices: Notices::default(),
        }
    }

    /// The personal team of a new user, named after the user.
    pub fn personal(id: TeamId, user: &User, now: Timestamp) -> Self {
        let name = user.display_name.as_deref().or_else(|| user.primary().map(|channel| channel.value.as_str()));
        let name = name.map_or_else(|| NAMELESS.to_owned(), |name| format!("{name}'s team"));
        Self::new(id, line::to_line(&name, line::MAX_NAME), now)
    }
}

/// The name of a team: one line of at most 256 characters, which may be empty.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, max_length = 256)]
pub struct TeamName(pub String);

wire::deserr_from!(TeamName, String, |text| line::check(&text, line::OPTIONAL_NAME).map(|()| Self(text)));

/// A new team.
#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewTeam {
    /// The name: one line of at most 256 characters, which may be empty.
    pub display_name: TeamName,
    /// The first member: a user id or `me`. Default: the client's user, or no member for a server.
    /// The first member gets the permissions that the project grants to team creators. Clients can
    /// create teams only for their own user.
    pub creator_user_id: Option<UserRef>,
    /// An https URL, or a data URL (`data:image/(png|jpeg|webp|gif);base64,…`) with an image of at
    /// most 100 KiB, which this service then stores and serves.
    pub profile_image_url: Change<ProfileImage>,
    /// Metadata that the clients of members read and write: any JSON value of at most 32 KiB.
    pub client_metadata: Change<Metadata>,
    /// Requires server access. Metadata that the clients of members read and servers write: any
    /// JSON value of at most 32 KiB.
    pub client_read_only_metadata: Change<Metadata>,
    /// Requires server access. Metadata that only servers read and write: any JSON value of at most
    /// 32 KiB.
    pub server_metadata: Change<Metadata>,
}

/// A change to a team; absent fields keep their values.
#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TeamPatch {
    /// The name: one line of at most 256 characters, which may be empty.
    pub display_name: Option<TeamName>,
    /// The picture, in the same form as for a new team; `null` removes the picture.
    pub profile_image_url: Change<ProfileImage>,
    /// Metadata that the clients of members read and write: any JSON value of at most 32 KiB, which
    /// replaces the existing value.
    pub client_metadata: Change<Metadata>,
    /// Requires server access. Metadata that the clients of members read and servers write: any
    /// JSON value of at most 32 KiB, which replaces the existing value.
    pub client_read_only_metadata: Change<Metadata>,
    /// Requires server access. Metadata that only servers read and write: any JSON value of at most
    /// 32 KiB, which replaces the existing value.
    pub server_metadata: Change<Metadata>,
}

impl NewTeam {
    /// A change that sets all fields of a new team except the creator.
    pub fn into_patch(self) -> TeamPatch {
        TeamPatch {
            display_name: Some(self.display_name),
            profile_image_url: self.profile_image_url,
            client_metadata: self.client_metadata,
            client_read_only_metadata: self.client_read_only_metadata,
            server_metadata: self.server_metadata,
        }
    }
}

impl TeamPatch {
    /// Rejects fields that the caller's access level may not set.
    pub fn check(&self, level: Level) -> Result<(), Problems> {
        let reserved =
            [(&self.client_read_only_metadata, "body.client_read_only_metadata"), (&self.server_metadata, "body.server_metadata")];
        match reserved.into_iter().find(|(change, _)| level < Level::Server && !change.is_keep()) {
            Some((_, path)) => Err(Problems::one(path, "requires server access")),
            None => Ok(()),
        }
    }

    /// Applies all fields except the picture.
    pub fn apply(&self, team: &mut Team) {
        if let Some(TeamName(name)) = &self.display_name {
            team.display_name.clone_from(name);
        }
        self.client_metadata.clone().apply(&mut team.client_metadata);
        self.client_read_only_metadata.clone().apply(&mut team.client_read_only_metadata);
        self.server_metadata.clone().apply(&mut team.server_metadata);
    }
}

/// A change to a member's name and picture in a team; absent fields keep their values.
#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct MemberProfilePatch {
    /// The name in the team: one line of at most 256 characters without hidden characters or
    /// direction controls. `null` or a blank name means the user's own name.
    #[schema(value_type = Option<String>, max_length = 256)]
    pub display_name: Change<DisplayName>,
    /// An https URL, or a data URL (`data:image/(png|jpeg|webp|gif);base64,…`) with an image of at
    /// most 100 KiB. `null` means the user's own picture.
    pub profile_image_url: Change<ProfileImage>,
}

/// A permission that a member holds in a team.
#[derive(Debug, Serialize, ToSchema)]
pub struct TeamPermission {
    /// The permission.
    pub id: PermissionId,
    /// The member.
    pub user_id: UserId,
    /// The team.
    pub team_id: TeamId,
}

/// A permission that a user holds in the entire project.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectPermission {
    /// The permission.
    pub id: PermissionId,
    /// The user.
    pub user_id: UserId,
}

/// The permissions of a member in a list; if `recursive`, including the permissions that they
/// contain.
pub fn permissions_of(rbac: &Rbac, grants: &BTreeSet<Grant>, recursive: bool, team_id: TeamId, user_id: UserId) -> Vec<TeamPermission> {
    rbac.granted(grants, Scope::Team, recursive).into_iter().map(|id| TeamPermission { id, user_id, team_id }).collect()
}

/// Whether the grants of a member include a system permission; `None` for a user who is not a
/// member.
pub fn may(rbac: &Rbac, grants: Option<&BTreeSet<Grant>>, system: System) -> bool {
    grants.is_some_and(|grants| rbac.allows(grants, system))
}
