//! API keys of users and teams, which apps accept instead of a sign-in. The keys of projects are a
//! separate type ([`ApiKey`](crate::project::ApiKey)).
//!
//! A key is part of its owner's item. Deleting the owner therefore also deletes the key, a single
//! conditional write changes a key, and a single read checks both a key and its owner. Keys that
//! have expired or were revoked stay visible for at most [`ENDED_FOR`]. When a key is added, keys
//! that ended longer ago are dropped. If too many ended keys remain, the ended keys created first
//! are dropped as well.

pub mod owner;
pub mod text;
pub mod view;

use crypto::digest::Digest;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::entropy::Entropy;
use wire::id::{OwnedKeyId, UserId};

pub use crate::owned_key::owner::{Owner, OwnerKind};
use crate::owned_key::text::KeyText;
use crate::quota::Quota;

/// The maximum number of an owner's active keys: keys that have not expired and were neither
/// revoked nor replaced by a rotation. Every request by a user reads the user's item, so the item
/// must stay small.
pub const MAX_KEYS: usize = Quota::UserApiKeys.max();
/// The maximum number of inactive keys that are kept when a key is added. Among the keys that
/// ended, those created first are dropped first. Keys replaced by a rotation are kept until they
/// end.
const MAX_ENDED: usize = 25;
/// How long a revoked or expired key is listed. After this time, the key is dropped when another
/// key is added. If more than `MAX_ENDED` keys have ended, the key may be dropped earlier.
pub const ENDED_FOR: SignedDuration = SignedDuration::from_hours(30 * 24);
/// The longest description, in characters.
pub const MAX_DESCRIPTION: usize = 256;
/// The maximum number of scopes of a key.
pub const MAX_SCOPES: usize = 32;
/// The longest scope, in characters.
pub const MAX_SCOPE: usize = 64;
/// The precision of a key's last use: at most one use is recorded in a period of this length.
pub const USE_PRECISION: SignedDuration = SignedDuration::from_hours(1);

/// A key of a user or team, as stored in the item of its owner.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnedKey {
    /// The id of the key.
    pub id: OwnedKeyId,
    /// The digest of the key.
    pub digest: Digest,
    /// The last four characters of the key.
    pub last_four: String,
    /// A description of 1 to [`MAX_DESCRIPTION`] characters.
    pub description: String,
    /// Whether the key may be published.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_public: bool,
    /// The actions in the app that the key permits, in the app's terms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// When the key was created.
    pub created_at: Timestamp,
    /// When the key expires; absent if it never expires.
    pub expires_at: Option<Timestamp>,
    /// When the key was revoked; absent if the key was not revoked.
    pub revoked_at: Option<Timestamp>,
    /// Whether the key was replaced by a rotation; a replaced key works until it ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_replaced: bool,
    /// Whether the key was revoked because someone, such as a secret scanner, reported it as
    /// exposed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_exposed: bool,
    /// The creator of a team's key that was created with client access; absent for all other keys,
    /// and for keys created by earlier versions.
    pub creator: Option<Creator>,
    /// When the key was last checked, to within [`USE_PRECISION`]; absent if it was never checked.
    pub last_used_at: Option<Timestamp>,
}

/// The member who created or rotated a key of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Creator {
    /// The member.
    pub user_id: UserId,
    /// The `owner_epoch` of the member's user account at that time.
    pub owner_epoch: u64,
}

impl Creator {
    /// Whether an intruder may have created the key: since the key's creation, the creator's
    /// account has changed hands, or an intruder was reported. `owner_epoch` is the creator's
    /// current epoch; `None` if the user was deleted, which does not invalidate the key.
    pub fn may_be_intruder(&self, owner_epoch: Option<u64>) -> bool {
        owner_epoch.is_some_and(|epoch| epoch > self.owner_epoch)
    }
}

/// The properties that the creator chooses for a new key.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// A description of 1 to [`MAX_DESCRIPTION`] characters.
    pub description: String,
    /// Whether the key may be published.
    pub is_public: bool,
    /// The actions in the app that the key permits, in the app's terms.
    pub scopes: Vec<String>,
    /// When the key expires; absent if it never expires.
    pub expires_at: Option<Timestamp>,
}

impl OwnedKey {
    /// A new key with this text.
    pub fn new(text: &KeyText, new: NewKey, entropy: &Entropy, now: Timestamp) -> Self {
        Self {
            id: OwnedKeyId::from(entropy.uuid()),
            digest: text.digest(),
            last_four: text.last_four().to_owned(),
            description: new.description,
            is_public: new.is_public,
            scopes: new.scopes,
            created_at: now,
            expires_at: new.expires_at,
            revoked_at: None,
            is_replaced: false,
            was_exposed: false,
            creator: None,
            last_used_at: None,
        }
    }

    /// Whether the key has expired.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|time| time <= now)
    }

    /// When the key was revoked or expired, whichever came first; `None` if the key is still
    /// usable.
    fn ended_at(&self, now: Timestamp) -> Option<Timestamp> {
        let expired_at = self.expires_at.filter(|time| *time <= now);
        self.revoked_at.into_iter().chain(expired_at).min()
    }

    /// Whether the key counts towards [`MAX_KEYS`].
    fn is_counted(&self, now: Timestamp) -> bool {
        self.ended_at(now).is_none() && !self.is_replaced
    }

    /// Whether the key is usable, or ended less than [`ENDED_FOR`] ago.
    fn is_listed(&self, now: Timestamp) -> bool {
        self.ended_at(now).is_none_or(|ended| now < after(ended, ENDED_FOR))
    }

    /// Ends the key, which a new key replaces, at `end`, unless it expires earlier.
    pub fn replace(&mut self, end: Timestamp) {
        self.expires_at = Some(self.expires_at.map_or(end, |time| time.min(end)));
        self.is_replaced = true;
    }

    /// Revokes the key. A key that was already revoked keeps its time of revocation.
    pub fn revoke(&mut self, now: Timestamp) {
        self.revoked_at = self.revoked_at.or(Some(now));
    }

    /// Whether a use of the key must be recorded: no use has been recorded yet, or the recorded use
    /// is at least [`USE_PRECISION`] old.
    pub fn is_use_news(&self, now: Timestamp) -> bool {
        self.last_used_at.is_none_or(|last| now.duration_since(last) >= USE_PRECISION)
    }
}

/// The owner has [`MAX_KEYS`] active keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyCountRefusal;

/// The keys of an owner, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OwnedKeys(Vec<OwnedKey>);

impl OwnedKeys {
    /// Whether the owner does not have any keys.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys that an owner sees, oldest first: usable keys, and keys that ended less than
    /// [`ENDED_FOR`] ago.
    pub fn listed(&self, now: Timestamp) -> impl DoubleEndedIterator<Item = &OwnedKey> {
        self.0.iter().filter(move |key| key.is_listed(now))
    }

    /// All keys, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &OwnedKey> {
        self.0.iter()
    }

    /// The key with this id.
    pub fn get(&self, id: OwnedKeyId) -> Option<&OwnedKey> {
        self.0.iter().find(|key| key.id == id)
    }

    /// The key with this id, for changing it.
    pub fn get_mut(&mut self, id: OwnedKeyId) -> Option<&mut OwnedKey> {
        self.0.iter_mut().find(|key| key.id == id)
    }

    /// The key with this text.
    pub fn by_text(&self, text: &KeyText) -> Option<&OwnedKey> {
        let digest = text.digest();
        self.0.iter().find(|key| key.digest == digest)
    }

    /// Changes the time when a key expires. If a key that had expired or been replaced now lives
    /// longer, it counts towards [`MAX_KEYS`] again.
    pub fn set_expiry(&mut self, id: OwnedKeyId, expires_at: Option<Timestamp>, now: Timestamp) -> Result<(), KeyCountRefusal> {
        let others = self.0.iter().filter(|key| key.id != id && key.is_counted(now)).count();
        let Some(key) = self.get_mut(id) else { return Ok(()) };
        let was_counted = key.is_counted(now);
        key.is_replaced &= expires_at.zip(key.expires_at).is_some_and(|(new, old)| new <= old);
        key.expires_at = expires_at;
        if !was_counted && key.is_counted(now) && others >= MAX_KEYS { Err(KeyCountRefusal) } else { Ok(()) }
    }

    /// Adds a key; drops keys that ended longer ago than [`ENDED_FOR`], and ended keys beyond their
    /// maximum number.
    pub fn add(&mut self, key: OwnedKey, now: Timestamp) -> Result<(), KeyCountRefusal> {
        self.0.retain(|key| key.is_listed(now));
        let counted = self.0.iter().filter(|key| key.is_counted(now)).count();
        let others = self.0.len() - counted;
        let working = self.0.iter().filter(|key| key.is_replaced && key.ended_at(now).is_none()).count();
        if counted >= MAX_KEYS || working > MAX_ENDED {
            return Err(KeyCountRefusal);
        }
        for _ in MAX_ENDED..others {
            if let Some(oldest) = self.0.iter().position(|key| key.ended_at(now).is_some()) {
                self.0.remove(oldest);
            }
        }
        self.0.push(key);
        Ok(())
    }

    /// Keeps only the keys with these ids.
    pub fn retain(&mut self, ids: &[OwnedKeyId]) {
        self.0.retain(|key| ids.contains(&key.id));
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The ids of all keys.
    pub fn ids(&self) -> Vec<OwnedKeyId> {
        self.0.iter().map(|key| key.id).collect()
    }
}

#[cfg(test)]
mod tests;
