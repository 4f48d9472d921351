//! Sets of API keys: the keys of a set are created, revoked and expire together. Only the gateway
//! can later replace a single key of a set.
//!
//! A key is shown only when it is created. The set stores the last four characters of each key, so
//! that people can tell the keys apart.

use std::collections::BTreeSet;

use crypto::digest::Digest;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::entropy::Entropy;
use wire::id::KeySetId;

use crate::project::key_permission::KeyPermission;
use crate::project::{ApiKey, KeyKind};
use crate::quota::Quota;

/// The maximum length of a description, in characters.
pub const MAX_DESCRIPTION: usize = 256;
/// The maximum number of a project's sets, including expired and revoked sets. The number is
/// limited because a single response lists all sets.
pub const MAX_SETS: usize = Quota::KeySets.max();
/// The time that API responses use for "never": the end of the year 9999.
const NEVER_MILLIS: i64 = 253_402_300_799_000;

/// A set of keys, as stored in the table.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeySet {
    /// The id of the set.
    pub id: KeySetId,
    /// A description of at most [`MAX_DESCRIPTION`] characters.
    pub description: String,
    /// When the set was created.
    pub created_at: Timestamp,
    /// When the keys expire; absent if they never expire.
    pub expires_at: Option<Timestamp>,
    /// When the keys were revoked; absent if the keys were not revoked.
    pub revoked_at: Option<Timestamp>,
    /// The permissions of the set's server key; absent if the key may use every operation of server
    /// access.
    pub permissions: Option<BTreeSet<KeyPermission>>,
    /// The keys, without their secrets.
    pub keys: Vec<KeyMark>,
}

/// A key as recorded in its set: the key's digest, and its last characters for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyMark {
    /// The kind of the key, which determines its access level.
    pub kind: KeyKind,
    /// The digest under which the key is stored.
    pub digest: Digest,
    /// The last four characters.
    pub last_four: String,
}

/// A new set with the plaintext of its keys. The plaintext is not stored and must be shown
/// immediately.
pub struct NewKeys {
    /// The set to store.
    pub set: KeySet,
    /// The plaintext of the keys, for display.
    pub secrets: Vec<(KeyKind, SecretString)>,
}

impl NewKeys {
    /// A set of random keys of these kinds, each with the prefix of its kind.
    pub fn random(entropy: &Entropy, kinds: impl IntoIterator<Item = KeyKind>, description: String, now: Timestamp) -> Self {
        let secret = |kind: KeyKind| (kind, SecretString::from(format!("{}{}", kind.prefix(), entropy.code().expose_secret())));
        Self::from_secrets(entropy, kinds.into_iter().map(secret).collect(), description, now)
    }

    /// A set of the given keys, which may have been chosen by an operator.
    pub fn from_secrets(entropy: &Entropy, secrets: Vec<(KeyKind, SecretString)>, description: String, created_at: Timestamp) -> Self {
        let keys = secrets.iter().map(|(kind, secret)| KeyMark::of(*kind, secret)).collect();
        let id = KeySetId::from(entropy.uuid());
        Self { set: KeySet { id, description, created_at, expires_at: None, revoked_at: None, permissions: None, keys }, secrets }
    }

    /// The key of a kind, if the set contains one.
    pub fn secret(&self, kind: KeyKind) -> Option<&SecretString> {
        self.secrets.iter().find(|(of, _)| *of == kind).map(|(_, secret)| secret)
    }
}

impl KeyMark {
    /// The record of a key, created from the key's plaintext.
    pub fn of(kind: KeyKind, secret: &SecretString) -> Self {
        let text = secret.expose_secret();
        let last = text.char_indices().rev().nth(3).map_or(text, |(start, _)| &text[start..]);
        Self { kind, digest: Digest::of(text), last_four: last.to_owned() }
    }
}

impl KeySet {
    /// The table item of a key in the set, stored under the key's digest.
    pub fn api_key(&self, kind: KeyKind) -> ApiKey {
        let permissions = self.permissions.clone();
        ApiKey { kind, set_id: self.id.uuid(), expires_at: self.expires_at, revoked_at: self.revoked_at, permissions }
    }

    /// When the keys expired or were revoked, whichever came first; `None` if the keys are still
    /// valid.
    fn ended_at(&self, now: Timestamp) -> Option<Timestamp> {
        let expired_at = self.expires_at.filter(|time| *time <= now);
        self.revoked_at.into_iter().chain(expired_at).min()
    }
}

/// The project has [`MAX_SETS`] sets, all of which are still valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySetCountRefusal;

/// The set to delete before another set is added: the set that expired or was revoked first, if the
/// project already has [`MAX_SETS`] sets.
pub fn superfluous(sets: &[KeySet], now: Timestamp) -> Result<Option<&KeySet>, KeySetCountRefusal> {
    if sets.len() < MAX_SETS {
        return Ok(None);
    }
    let ended = sets.iter().filter_map(|set| set.ended_at(now).map(|time| (time, set)));
    ended.min_by_key(|(time, set)| (*time, set.id)).map(|(_, set)| Some(set)).ok_or(KeySetCountRefusal)
}

/// When the keys of a new set expire; `None` for never. Requests give the time in milliseconds
/// since the Unix epoch. As in responses, the end of the year 9999 means "never", and so do all
/// later times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expiry(pub Option<Timestamp>);

wire::deserr_from!(Expiry, i64, |millis| {
    if millis >= NEVER_MILLIS {
        return Ok(Self(None));
    }
    let time = Timestamp::from_millisecond(millis);
    time.map(|time| Self(Some(time))).map_err(|_| "must be a time in milliseconds since the Unix epoch")
});

/// The fields of a set that every response contains.
#[wire::sparse]
#[derive(Debug, Serialize, ToSchema)]
pub struct KeySetBase {
    id: KeySetId,
    description: String,
    /// When the set was created, in milliseconds since the Unix epoch.
    created_at_millis: i64,
    /// When the keys expire, in milliseconds since the Unix epoch; the end of the year 9999 if the
    /// keys never expire.
    expires_at_millis: i64,
    /// When the keys were revoked, in milliseconds since the Unix epoch; absent if the keys were
    /// not revoked.
    manually_revoked_at_millis: Option<i64>,
    /// The permissions of the server key; absent if the key may use every operation of server
    /// access.
    #[schema(value_type = Option<Vec<String>>, example = json!(["users:read"]))]
    permissions: Option<BTreeSet<KeyPermission>>,
}

/// A set in a response, with the last characters of its keys instead of the keys.
#[wire::sparse]
#[derive(Debug, Serialize, ToSchema)]
pub struct KeySetRead {
    #[serde(flatten)]
    base: KeySetBase,
    publishable_client_key: Option<LastFour>,
    secret_server_key: Option<LastFour>,
    super_secret_admin_key: Option<LastFour>,
}

/// The part of a key that may be shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct LastFour {
    last_four: String,
}

impl KeySetBase {
    /// The fields of a set that every response contains.
    pub fn of(set: &KeySet) -> Self {
        Self {
            id: set.id,
            description: set.description.clone(),
            created_at_millis: set.created_at.as_millisecond(),
            expires_at_millis: set.expires_at.map_or(NEVER_MILLIS, Timestamp::as_millisecond),
            manually_revoked_at_millis: set.revoked_at.map(Timestamp::as_millisecond),
            permissions: set.permissions.clone(),
        }
    }
}

impl KeySetRead {
    /// A set with the last characters of its keys.
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
