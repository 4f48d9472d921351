//! Teams and their members.

pub mod invitation;
pub mod member_profile;
pub mod view;

use std::collections::BTreeSet;

use crypto::digest::Digest;
use deserr::{DeserializeError, Deserr, IntoValue, Value, ValuePointerRef};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::change::Change;
use wire::id::{TeamId, UserId};
use wire::level::Level;
use wire::problem::{Problems, rejected};

use crate::metadata::Metadata;
use crate::permission::{Grant, PermissionId, Rbac, Scope, System};
use crate::profile_image::ProfileImage;
use crate::text::line;
use crate::user::User;
use crate::user::reference::UserRef;
use crate::user::values::DisplayName;

/// What the personal team of somebody without a name and an address is called.
pub const NAMELESS: &str = "Personal team";

/// A team of users, as the table holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Team {
    pub id: TeamId,
    pub display_name: String,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_image_url: Option<String>,
    /// The digest of the image at that address, if it is kept here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uploaded_image: Option<Digest>,
    #[serde(default, with = "crate::text::json", skip_serializing_if = "Option::is_none")]
    pub client_metadata: Option<Metadata>,
    #[serde(default, with = "crate::text::json", skip_serializing_if = "Option::is_none")]
    pub client_read_only_metadata: Option<Metadata>,
    #[serde(default, with = "crate::text::json", skip_serializing_if = "Option::is_none")]
    pub server_metadata: Option<Metadata>,
}

/// What a user is in a team, but for its permissions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub joined_at: Timestamp,
    /// What the user is called there, if not as everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_image_url: Option<String>,
    /// The digest of the image at that address, if it is kept here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uploaded_image: Option<Digest>,
}

impl Member {
    pub fn new(now: Timestamp) -> Self {
        Self { joined_at: now, display_name: None, profile_image_url: None, uploaded_image: None }
    }
}

impl Team {
    pub fn new(id: TeamId, display_name: String, now: Timestamp) -> Self {
        Self {
            id,
            display_name,
            created_at: now,
            profile_image_url: None,
            uploaded_image: None,
            client_metadata: None,
            client_read_only_metadata: None,
            server_metadata: None,
        }
    }

    /// The team that a user begins with, called after the user.
    pub fn personal(id: TeamId, user: &User, now: Timestamp) -> Self {
        let name = user.display_name.as_deref().or_else(|| user.primary().map(|channel| channel.value.as_str()));
        let name = name.map_or_else(|| NAMELESS.to_owned(), |name| format!("{name}'s team"));
        Self::new(id, line::to_line(&name, line::MAX_NAME), now)
    }
}

/// The name of a team: one line of 1 to 256 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, min_length = 1, max_length = 256)]
pub struct TeamName(pub String);

impl<E: DeserializeError> Deserr<E> for TeamName {
    fn deserialize_from_value<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, E> {
        let text = String::deserialize_from_value(value, location)?;
        line::check(&text, line::NAME).map_err(|error| rejected(&error, location))?;
        Ok(Self(text))
    }
}

/// A new team.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewTeam {
    pub display_name: TeamName,
    /// A user's id, or `me`: who becomes its first member, with the permissions of a creator. A client creates for its user alone.
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub creator_user_id: Option<UserRef>,
    /// An https URL; or `data:image/(png|jpeg|webp|gif);base64,` and an image of at most 100 KiB, which is then served from here.
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub profile_image_url: Change<ProfileImage>,
    /// At most 32 KiB.
    #[deserr(default)]
    #[schema(value_type = Option<Object>)]
    pub client_metadata: Change<Metadata>,
    /// Server access. At most 32 KiB.
    #[deserr(default)]
    #[schema(value_type = Option<Object>)]
    pub client_read_only_metadata: Change<Metadata>,
    /// Server access. At most 32 KiB.
    #[deserr(default)]
    #[schema(value_type = Option<Object>)]
    pub server_metadata: Change<Metadata>,
}

/// A change of a team; absent fields stay as they are.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TeamPatch {
    #[deserr(default)]
    pub display_name: Option<TeamName>,
    /// As in a new team; `null` for none.
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub profile_image_url: Change<ProfileImage>,
    /// At most 32 KiB; replaced as a whole.
    #[deserr(default)]
    #[schema(value_type = Option<Object>)]
    pub client_metadata: Change<Metadata>,
    /// Server access. At most 32 KiB; replaced as a whole.
    #[deserr(default)]
    #[schema(value_type = Option<Object>)]
    pub client_read_only_metadata: Change<Metadata>,
    /// Server access. At most 32 KiB; replaced as a whole.
    #[deserr(default)]
    #[schema(value_type = Option<Object>)]
    pub server_metadata: Change<Metadata>,
}

impl NewTeam {
    /// The fields beside its name and creator.
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
    /// Refuses what a client may not say.
    pub fn check(&self, level: Level) -> Result<(), Problems> {
        let reserved =
            [(&self.client_read_only_metadata, "body.client_read_only_metadata"), (&self.server_metadata, "body.server_metadata")];
        match reserved.into_iter().find(|(change, _)| level < Level::Server && !change.is_keep()) {
            Some((_, path)) => Err(Problems::one(path, "may be set with server access only")),
            None => Ok(()),
        }
    }

    /// Changes everything but the picture.
    pub fn apply(&self, team: &mut Team) {
        if let Some(TeamName(name)) = &self.display_name {
            team.display_name.clone_from(name);
        }
        self.client_metadata.clone().apply(&mut team.client_metadata);
        self.client_read_only_metadata.clone().apply(&mut team.client_read_only_metadata);
        self.server_metadata.clone().apply(&mut team.server_metadata);
    }
}

/// A change of what a member is called and looks like in a team; absent fields stay as they are.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct MemberProfilePatch {
    /// At most 256 characters, none of them hidden or a control of direction; `null` or empty for what the user is called everywhere.
    #[deserr(default)]
    #[schema(value_type = Option<String>, max_length = 256)]
    pub display_name: Change<DisplayName>,
    /// An https URL; or `data:image/(png|jpeg|webp|gif);base64,` and an image of at most 100 KiB. `null` for the user's own.
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub profile_image_url: Change<ProfileImage>,
}

/// A permission that a member has in a team.
#[derive(Debug, Serialize, ToSchema)]
pub struct TeamPermission {
    pub id: PermissionId,
    pub user_id: UserId,
    pub team_id: TeamId,
}

/// A permission that a user has in the whole project.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectPermission {
    pub id: PermissionId,
    pub user_id: UserId,
}

/// The permissions of a member, as a list has them.
pub fn permissions_of(rbac: &Rbac, grants: &BTreeSet<Grant>, recursive: bool, team_id: TeamId, user_id: UserId) -> Vec<TeamPermission> {
    rbac.granted(grants, Scope::Team, recursive).into_iter().map(|id| TeamPermission { id, user_id, team_id }).collect()
}

/// Whether a member's grants allow what the system asks for; a stranger has none.
pub fn may(rbac: &Rbac, grants: Option<&BTreeSet<Grant>>, system: System) -> bool {
    grants.is_some_and(|grants| rbac.allows(grants, system))
}
