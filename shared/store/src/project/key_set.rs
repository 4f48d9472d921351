//! Sets of API keys.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | set | `P#<P>` | `KEYS#<set>` | 1 unit to read or list, and to list before a new set is created; 2 for each item to write, in a transaction with its keys |
//! | key | `P#<P>` | `KEY#<digest>` | 1 unit to read, with every request with a key, unless a remembered proof saves the read (`GATELET_PROJECT_CACHE_SECONDS`) |
//!
//! A set and its keys are created and revoked together, and requests read keys with strong
//! consistency. A key therefore stops working as soon as its set is revoked, or up to ten seconds
//! later in processes that remember the key (`GATELET_PROJECT_CACHE_SECONDS`). The TTL deletes an
//! expired key some time later; the key's set is kept for display until it has to make room for a
//! new set.

use crypto::digest::Digest;
use jiff::Timestamp;
use model::project::ApiKey;
use model::project::key_set::{KeyMark, KeySet, NewKeys};
use model::trail::{Target, TargetKind};
use secrecy::{ExposeSecret as _, SecretString};
use wire::id::{KeySetId, ProjectId};

use crate::keys::{api_key_key, key_key};
use crate::table::{Error, Key, Store, Write, entity, integer, string};

/// The key of a set's item.
pub fn set_key(project: &ProjectId, id: KeySetId) -> Key {
    Key::new(format!("P#{project}"), format!("KEYS#{id}"))
}

/// Writes a new set with its keys.
pub fn create(project: &ProjectId, new: &NewKeys) -> Result<Vec<Write>, Error> {
    let keys = new.secrets.iter().map(|(kind, secret)| create_key(project, secret, &new.set.api_key(*kind)));
    let set = Write::create(set_key(project, new.set.id), &new.set)?.targets([Target::new(TargetKind::KeySet, new.set.id)]);
    [Ok(set)].into_iter().chain(keys).collect()
}

/// Deletes a set with its keys.
pub fn delete(project: &ProjectId, set: &KeySet) -> impl Iterator<Item = Write> {
    let keys = set.keys.iter().map(|key| key_key(project, &key.digest));
    [set_key(project, set.id)].into_iter().chain(keys).map(Write::delete)
}

fn create_key(project: &ProjectId, secret: &SecretString, key: &ApiKey) -> Result<Write, Error> {
    let write = Write::create(api_key_key(project, secret), key)?;
    Ok(match key.expires_at {
        Some(time) => write.expires(time),
        None => write,
    })
}

impl Store {
    /// The set with this id.
    pub async fn key_set(&self, project: &ProjectId, id: KeySetId) -> Result<Option<KeySet>, Error> {
        self.get(&set_key(project, id)).await?.map(entity).transpose()
    }

    /// All sets of a project, newest first.
    pub async fn key_sets(&self, project: &ProjectId) -> Result<Vec<KeySet>, Error> {
        let query = self.query_prefix(format!("P#{project}"), "KEYS#");
        let mut sets: Vec<KeySet> = self.query_all(query).await?.into_iter().map(entity).collect::<Result<_, _>>()?;
        sets.sort_by(|a, b| b.created_at.cmp(&a.created_at).then_with(|| a.id.cmp(&b.id)));
        Ok(sets)
    }

    /// Sets the description of a set; fails with [`Error::Conflict`] if the set does not exist.
    pub async fn describe_key_set(&self, project: &ProjectId, id: KeySetId, description: &str) -> Result<(), Error> {
        let update = Write::update(set_key(project, id), "SET d.description = :description").on("attribute_exists(pk)");
        self.write(update.value(":description", string(description))).await
    }

    /// Replaces a key of a set; the old key stops working. Returns `false` and changes nothing if
    /// the project does not have the old key or its set, or if the old key is revoked.
    pub async fn replace_key(&self, project: &ProjectId, old: &SecretString, new: &SecretString) -> Result<bool, Error> {
        let Some(key) = self.api_key(project, old).await?.filter(|key| key.revoked_at.is_none()) else { return Ok(false) };
        let Some(mut set) = self.key_set(project, KeySetId::from(key.set_id)).await? else { return Ok(false) };
        let digest = Digest::of(old.expose_secret());
        set.keys.iter_mut().filter(|mark| mark.digest == digest).for_each(|mark| *mark = KeyMark::of(key.kind, new));
        let writes = [
            Write::put(set_key(project, set.id), &set)?.on("attribute_exists(pk)").targets([Target::new(TargetKind::KeySet, set.id)]),
            Write::delete(key_key(project, &digest)).on("attribute_exists(pk) AND attribute_not_exists(d.revoked_at)"),
            create_key(project, new, &key)?,
        ];
        self.transact(writes).await.map(|()| true)
    }

    /// Revokes a set and its unexpired keys. Revoking the set again has no effect.
    pub async fn revoke_key_set(&self, project: &ProjectId, set: &KeySet, now: Timestamp) -> Result<(), Error> {
        // Expired keys do not work anyway, and may have been deleted.
        let has_expired = set.expires_at.is_some_and(|time| time <= now);
        let keys = set.keys.iter().filter(|_| !has_expired).map(|key| key_key(project, &key.digest));
        let revoke = |key| {
            Write::update(key, "SET d.revoked_at = if_not_exists(d.revoked_at, :now)")
                .on("attribute_exists(pk)")
                .value(":now", integer(now.as_millisecond()))
        };
        self.transact([set_key(project, set.id)].into_iter().chain(keys).map(revoke)).await
    }
}
