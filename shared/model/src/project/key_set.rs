//! Sets of API keys: keys that were made together, and are revoked and expire together.
//!
//! A key is shown once, when it is made. The set keeps what tells its keys apart for people, the last four characters.

use crypto::digest::Digest;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::entropy::Entropy;
use wire::id::KeySetId;

use crate::project::{ApiKey, KeyKind};

/// Longest description, in characters.
pub const MAX_DESCRIPTION: usize = 256;
/// What stands for "never" where an answer must have a time: the end of the year 9999.
const NEVER_MILLIS: i64 = 253_402_300_799_000;

/// A set of keys, as the table holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeySet {
    pub id: KeySetId,
    pub description: String,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub created_at: Timestamp,
    #[serde(default, with = "jiff::fmt::serde::timestamp::millisecond::optional", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(default, with = "jiff::fmt::serde::timestamp::millisecond::optional", skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
    pub keys: Vec<KeyMark>,
}

/// A key of a set: where it is, and what people know it by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyMark {
    pub kind: KeyKind,
    pub digest: Digest,
    pub last_four: String,
}

/// A set with its keys in clear, as it is only when it is made.
pub struct NewKeys {
    pub set: KeySet,
    pub secrets: Vec<(KeyKind, SecretString)>,
}

impl NewKeys {
    /// Random keys of these kinds, each with the prefix of its kind.
    pub fn random(entropy: &Entropy, kinds: impl IntoIterator<Item = KeyKind>, description: String, now: Timestamp) -> Self {
        let secret = |kind: KeyKind| (kind, SecretString::from(format!("{}{}", kind.prefix(), entropy.code().expose_secret())));
        Self::of(entropy, kinds.into_iter().map(secret).collect(), description, now)
    }

    /// A set of keys that somebody chose.
    pub fn of(entropy: &Entropy, secrets: Vec<(KeyKind, SecretString)>, description: String, created_at: Timestamp) -> Self {
        let keys = secrets.iter().map(|(kind, secret)| KeyMark::of(*kind, secret)).collect();
        let id = KeySetId::from(entropy.uuid());
        Self { set: KeySet { id, description, created_at, expires_at: None, revoked_at: None, keys }, secrets }
    }

    /// The key of a kind, if the set has one.
    pub fn secret(&self, kind: KeyKind) -> Option<&SecretString> {
        self.secrets.iter().find(|(of, _)| *of == kind).map(|(_, secret)| secret)
    }
}

impl KeyMark {
    pub fn of(kind: KeyKind, secret: &SecretString) -> Self {
        let text = secret.expose_secret();
        let last = text.char_indices().rev().nth(3).map_or(text, |(start, _)| &text[start..]);
        Self { kind, digest: Digest::of(text), last_four: last.to_owned() }
    }
}

impl KeySet {
    /// A key of the set, as requests find it.
    pub fn api_key(&self, kind: KeyKind) -> ApiKey {
        ApiKey { kind, set_id: self.id.uuid(), expires_at: self.expires_at, revoked_at: self.revoked_at }
    }
}

/// What every answer tells of a set.
#[derive(Debug, Serialize, ToSchema)]
pub struct KeySetBase {
    id: KeySetId,
    description: String,
    /// Milliseconds since the epoch.
    created_at_millis: i64,
    /// Milliseconds since the epoch; the end of the year 9999 for keys that do not expire.
    expires_at_millis: i64,
    /// Milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    manually_revoked_at_millis: Option<i64>,
}

/// A set as it is read.
#[derive(Debug, Serialize, ToSchema)]
pub struct KeySetRead {
    #[serde(flatten)]
    base: KeySetBase,
    #[serde(skip_serializing_if = "Option::is_none")]
    publishable_client_key: Option<LastFour>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret_server_key: Option<LastFour>,
    #[serde(skip_serializing_if = "Option::is_none")]
    super_secret_admin_key: Option<LastFour>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LastFour {
    last_four: String,
}

impl KeySetBase {
    pub fn of(set: &KeySet) -> Self {
        Self {
            id: set.id,
            description: set.description.clone(),
            created_at_millis: set.created_at.as_millisecond(),
            expires_at_millis: set.expires_at.map_or(NEVER_MILLIS, Timestamp::as_millisecond),
            manually_revoked_at_millis: set.revoked_at.map(Timestamp::as_millisecond),
        }
    }
}

impl KeySetRead {
    pub fn of(set: &KeySet) -> Self {
        let last_four = |kind: KeyKind| {
            let mark = set.keys.iter().find(|key| key.kind == kind);
            mark.map(|key| LastFour { last_four: key.last_four.clone() })
        };
        Self {
            base: KeySetBase::of(set),
            publishable_client_key: last_four(KeyKind::PublishableClient),
            secret_server_key: last_four(KeyKind::SecretServer),
            super_secret_admin_key: last_four(KeyKind::SuperSecretAdmin),
        }
    }
}
