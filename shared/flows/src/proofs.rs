//! Proved access levels that a process remembers for the time that the deployment permits, which
//! saves the reads of the project and of its key. Off unless the operator sets the time, because a
//! revoked key, the settings before a change, and a deleted project stay in effect for as long.
//!
//! Only proofs that succeeded are remembered, each for its project, access level and key: a refused
//! key is always read. The time counts from before the read, so nothing outlives a change by more
//! than the permitted time. Administrators' requests are never taken from memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crypto::digest::Digest;
use jiff::{SignedDuration, Timestamp};
use model::project::{ApiKey, KeyKind};
use secrecy::{ExposeSecret as _, SecretString};
use store::keys::{key_key, project_key};
use store::project::ProjectRow;
use store::{Items, Key};
use wire::clock::after;
use wire::id::ProjectId;
use wire::level::Level;

/// The maximum number of remembered proofs. When it is reached, all are forgotten.
const MOST: usize = 1000;

/// A project and a key, as read for a claim. In a remembered proof, the key proved the claimed
/// access level; without a key, the project required none at that level.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The project.
    pub project: ProjectRow,
    /// The key; absent if the claim has none, or one that does not exist.
    pub key: Option<ApiKey>,
}

/// What a request claims: a project, an access level, and the digest of a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The project.
    pub project: ProjectId,
    /// The access level.
    pub level: Level,
    /// The digest of the key; absent if the request has none.
    pub key: Option<Digest>,
}

impl Claim {
    /// The claim of an OAuth client with this secret.
    pub fn of_client(project: ProjectId, secret: Option<&SecretString>) -> Self {
        Self { project, level: Level::Client, key: secret.map(|secret| Digest::of(secret.expose_secret())) }
    }

    /// The keys of the items that [`Self::stored`] needs.
    pub fn keys(&self) -> impl Iterator<Item = Key> + use<> {
        let key = self.key.as_ref().map(|key| key_key(&self.project, key));
        [project_key(&self.project)].into_iter().chain(key)
    }

    /// The project and the key as stored in the table, whether or not the key proves anything;
    /// `None` if the project does not exist.
    pub fn stored(&self, items: &mut Items) -> Result<Option<Proof>, store::Error> {
        let Some(project) = items.take(&project_key(&self.project)).map(ProjectRow::of).transpose()? else { return Ok(None) };
        let key = self.key.as_ref().map(|key| items.entity(&key_key(&self.project, key))).transpose()?.flatten();
        Ok(Some(Proof { project, key }))
    }
}

/// The remembered proofs of a process.
#[derive(Debug)]
pub struct Proofs {
    life: SignedDuration,
    /// Each proof, with a time just before it was read.
    proved: Mutex<HashMap<Claim, (Timestamp, Arc<Proof>)>>,
}

impl Proofs {
    /// Remembers proofs for `life`; not at all if that is zero.
    pub fn new(life: SignedDuration) -> Self {
        Self { life, proved: Mutex::default() }
    }

    /// The proof of a claim that is remembered at `now`, unless its key has expired.
    pub fn get(&self, claim: &Claim, now: Timestamp) -> Option<Arc<Proof>> {
        if self.life.is_zero() || claim.level == Level::Admin {
            return None;
        }
        let proved = self.proved();
        let (read_at, proof) = proved.get(claim)?;
        let opens = proof.key.as_ref().is_none_or(|key| key.opens(KeyKind::of(claim.level), now));
        // A clock that was set back must not make a proof live longer.
        (opens && *read_at <= now && now < after(*read_at, self.life)).then(|| Arc::clone(proof))
    }

    /// Remembers a proof that was read after `read_at`.
    pub fn remember(&self, claim: Claim, read_at: Timestamp, proof: &Arc<Proof>) {
        if self.life.is_zero() || claim.level == Level::Admin {
            return;
        }
        let mut proved = self.proved();
        if proved.len() >= MOST {
            proved.clear();
        }
        proved.insert(claim, (read_at, Arc::clone(proof)));
    }

    fn proved(&self) -> MutexGuard<'_, HashMap<Claim, (Timestamp, Arc<Proof>)>> {
        self.proved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use model::project::Project;

    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(millis).expect("in range")
    }

    fn claim(level: Level, key: &str) -> Claim {
        Claim { project: ProjectId::internal(), level, key: Some(Digest::of(key)) }
    }

    fn proof() -> Arc<Proof> {
        let project = Project::new(ProjectId::internal(), "Looms", at(0));
        Arc::new(Proof { project: ProjectRow { project, version: 1 }, key: None })
    }

    fn proofs(seconds: i64) -> Proofs {
        Proofs::new(SignedDuration::from_secs(seconds))
    }

    #[test]
    fn a_proof_is_remembered_for_its_time_and_only_for_its_claim() {
        let proofs = proofs(2);
        proofs.remember(claim(Level::Client, "a"), at(5000), &proof());
        for (millis, is_remembered) in [(4999, false), (5000, true), (6999, true), (7000, false)] {
            assert_eq!(proofs.get(&claim(Level::Client, "a"), at(millis)).is_some(), is_remembered, "{millis}");
        }
        let elsewhere = ProjectId::parse("6fbbf22e-f4b2-4c6e-95a1-beab6fa41063").expect("an id");
        let others = [
            claim(Level::Server, "a"),
            claim(Level::Client, "b"),
            Claim { key: None, ..claim(Level::Client, "a") },
            Claim { project: elsewhere, ..claim(Level::Client, "a") },
        ];
        for other in others {
            assert!(proofs.get(&other, at(5000)).is_none(), "{other:?}");
        }
    }

    #[test]
    fn administrators_and_deployments_without_the_setting_are_not_remembered() {
        let (on, off) = (proofs(2), proofs(0));
        on.remember(claim(Level::Admin, "a"), at(0), &proof());
        off.remember(claim(Level::Client, "a"), at(0), &proof());
        assert!(on.get(&claim(Level::Admin, "a"), at(0)).is_none());
        assert!(off.get(&claim(Level::Client, "a"), at(0)).is_none());
        assert!(on.proved().is_empty() && off.proved().is_empty());
    }

    #[test]
    fn a_flood_of_claims_does_not_fill_the_memory() {
        let proofs = proofs(2);
        for number in 0..MOST * 2 + 10 {
            proofs.remember(claim(Level::Client, &number.to_string()), at(0), &proof());
            assert!(proofs.proved().len() <= MOST);
        }
    }
}
