//! API keys of users and teams in responses.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::{OwnedKeyId, TeamId, UserId};

use crate::owned_key::OwnedKey;
use crate::owned_key::owner::{Owner, OwnerKind};
use crate::owned_key::text::KeyText;

/// A key of a user or team.
#[wire::sparse]
#[derive(Debug, Serialize, ToSchema)]
pub struct OwnedKeyView {
    id: OwnedKeyId,
    description: String,
    is_public: bool,
    /// The actions in the app that the key permits, in the app's terms.
    scopes: Vec<String>,
    /// When the key was created, in milliseconds since the Unix epoch.
    created_at_millis: i64,
    /// When the key expires, in milliseconds since the Unix epoch; absent if the key never expires.
    expires_at_millis: Option<i64>,
    /// When the key was revoked, in milliseconds since the Unix epoch; absent unless the key was
    /// revoked.
    manually_revoked_at_millis: Option<i64>,
    /// When the key was last checked, to within an hour, in milliseconds since the Unix epoch;
    /// absent if the key was never checked.
    last_used_at_millis: Option<i64>,
    /// The kind of owner.
    #[serde(rename = "type")]
    kind: OwnerKind,
    /// The owner, if it is a user.
    user_id: Option<UserId>,
    /// The owner, if it is a team.
    team_id: Option<TeamId>,
    /// The entire key in the response to its creation, otherwise its last four characters.
    value: ShownKey,
}

/// The part of a key shown in a response.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ShownKey {
    /// The whole key.
    Whole(String),
    /// The last characters of the key.
    End {
        /// The last four characters.
        last_four: String,
    },
}

impl OwnedKeyView {
    /// A key without its text.
    pub fn of(owner: Owner, key: &OwnedKey) -> Self {
        let (user_id, team_id) = match owner {
            Owner::User(id) => (Some(id), None),
            Owner::Team(id) => (None, Some(id)),
        };
        Self {
            id: key.id,
            description: key.description.clone(),
            is_public: key.is_public,
            scopes: key.scopes.clone(),
            created_at_millis: key.created_at.as_millisecond(),
            expires_at_millis: key.expires_at.map(Timestamp::as_millisecond),
            manually_revoked_at_millis: key.revoked_at.map(Timestamp::as_millisecond),
            last_used_at_millis: key.last_used_at.map(Timestamp::as_millisecond),
            kind: owner.kind(),
            user_id,
            team_id,
            value: ShownKey::End { last_four: key.last_four.clone() },
        }
    }

    /// A new key with its text, which no other response contains.
    pub fn new(owner: Owner, key: &OwnedKey, text: &KeyText) -> Self {
        Self { value: ShownKey::Whole(text.text().to_owned()), ..Self::of(owner, key) }
    }
}
