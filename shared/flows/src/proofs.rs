//! Proofs of access levels that a process remembers for the time set by the operator, to save
//! reading the project and its key. Off by default, because revoked keys, old settings and deleted
//! projects stay in effect for that time.
//!
//! Only successful proofs are remembered, each for its project, access level and key: a refused key
//! is always read. The time starts before the read, so a proof never outlives a change by more than
//! this time. Proofs of administrators are never remembered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crypto::digest::Digest;
use jiff::{SignedDuration, Timestamp};
use model::project::{ApiKey, KeyKind, Project};
use secrecy::{ExposeSecret as _, SecretString};
use store::keys::{key_key, project_key};
use store::project::ProjectRow;
use store::{Items, Key};
use wire::clock::after;
use wire::id::ProjectId;
use wire::level::Level;

/// The maximum number of remembered proofs. At the maximum, all proofs are forgotten.
const MAX_PROOFS: usize = 1000;

/// A project and a key, read to prove a claim. In a remembered proof, the key proved the claimed
/// access level; without a key, the project did not require one.
#[derive(Debug)]
pub struct Proof {
    /// The project.
    pub project: Arc<Project>,
    /// The version of the project's item.
    pub project_version: u64,
    /// The key; absent if the claim does not include a key, or if the key does not exist.
    pub key: Option<Arc<ApiKey>>,
}

/// A request's claim: a project, an access level, and the digest of a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The project.
    pub project: ProjectId,
    /// The access level.
    pub level: Level,
    /// The digest of the key; absent if the request does not have a key.
    pub key: Option<Digest>,
}

impl Claim {
    /// The claim of an OAuth client with the given secret.
    pub fn from_client(project: ProjectId, secret: Option<&SecretString>) -> Self {
        Self { project, level: Level::Client, key: secret.map(|secret| Digest::of(secret.expose_secret())) }
    }

    fn keys(&self) -> impl Iterator<Item = Key> + use<> {
        let key = self.key.as_ref().map(|key| key_key(&self.project, key));
        [project_key(&self.project)].into_iter().chain(key)
    }

    fn stored(&self, items: &Items) -> Result<Option<Proof>, store::Error> {
        let Some((project, project_version)) = ProjectRow::shared(items, &self.project)? else { return Ok(None) };
        let key = self.key.as_ref().map(|key| items.read(&key_key(&self.project, key))).transpose()?.flatten();
        Ok(Some(Proof { project, project_version, key }))
    }
}

/// A claim with its remembered proof, if there is one; without one, the proof must be read.
#[derive(Debug)]
pub struct Lookup {
    claim: Claim,
    began_at: Timestamp,
    /// Whether a proof may be remembered after it is read.
    may_remember: bool,
    remembered: Option<Arc<Proof>>,
}

impl Lookup {
    /// Whether a remembered proof already proves the claim.
    pub fn is_proved(&self) -> bool {
        self.remembered.is_some()
    }

    /// The keys of the items that [`Self::proof`] needs; empty if the proof is remembered.
    pub fn keys(&self) -> impl Iterator<Item = Key> + use<> {
        (!self.is_proved()).then(|| self.claim.keys()).into_iter().flatten()
    }

    /// The remembered proof or, without one, the project and the key that were read, whether or not
    /// the key proves anything; `None` if the project does not exist.
    pub fn proof(&self, items: &Items) -> Result<Option<Arc<Proof>>, store::Error> {
        match &self.remembered {
            Some(proof) => Ok(Some(Arc::clone(proof))),
            None => Ok(self.claim.stored(items)?.map(Arc::new)),
        }
    }

    /// Remembers a newly read proof of the claim. If a proof is already remembered, its time is not
    /// extended.
    pub fn remember(self, proofs: &Proofs, proof: &Arc<Proof>) {
        if self.may_remember && !self.is_proved() {
            proofs.insert(self.claim, self.began_at, Arc::clone(proof));
        }
    }
}

/// The remembered proofs of a process.
#[derive(Debug)]
pub struct Proofs {
    life: SignedDuration,
    /// Each proof, with the time just before it was read.
    proved: Mutex<HashMap<Claim, (Timestamp, Arc<Proof>)>>,
}

impl Proofs {
    /// Remembers proofs for `life`; if `life` is zero, remembers nothing.
    pub fn new(life: SignedDuration) -> Self {
        Self { life, proved: Mutex::default() }
    }

    /// Looks up a claim at `now`. Without `may_remember`, a remembered proof is not used and a new
    /// one is not remembered.
    pub fn look_up(&self, claim: Claim, may_remember: bool, now: Timestamp) -> Lookup {
        let may_remember = may_remember && !self.life.is_zero() && claim.level != Level::Admin;
        let remembered = if may_remember { self.get(&claim, now) } else { None };
        Lookup { claim, began_at: now, may_remember, remembered }
    }

    /// The proof of a claim that is remembered at `now`, unless the key has expired.
    fn get(&self, claim: &Claim, now: Timestamp) -> Option<Arc<Proof>> {
        let proved = self.proved();
        let (read_at, proof) = proved.get(claim)?;
        let opens = proof.key.as_ref().is_none_or(|key| key.opens(KeyKind::of(claim.level), now));
        // Setting the clock back must not make a proof live longer.
        (opens && *read_at <= now && now < after(*read_at, self.life)).then(|| Arc::clone(proof))
    }

    fn insert(&self, claim: Claim, read_at: Timestamp, proof: Arc<Proof>) {
        let mut proved = self.proved();
        if proved.len() >= MAX_PROOFS {
            proved.clear();
        }
        proved.insert(claim, (read_at, proof));
    }

    fn proved(&self) -> MutexGuard<'_, HashMap<Claim, (Timestamp, Arc<Proof>)>> {
        self.proved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(millis).expect("in range")
    }

    fn claim(level: Level, key: &str) -> Claim {
        Claim { project: ProjectId::internal(), level, key: Some(Digest::of(key)) }
    }

    fn proof() -> Arc<Proof> {
        let project = Arc::new(Project::new(ProjectId::internal(), "Looms", at(0)));
        Arc::new(Proof { project, project_version: 1, key: None })
    }

    /// A request that makes the claim at `millis` and proves it.
    fn claim_at(proofs: &Proofs, claim: Claim, millis: i64) {
        proofs.look_up(claim, true, at(millis)).remember(proofs, &proof());
    }

    fn is_remembered(proofs: &Proofs, claim: Claim, millis: i64) -> bool {
        let lookup = proofs.look_up(claim, true, at(millis));
        assert_eq!(lookup.keys().count(), if lookup.is_proved() { 0 } else { lookup.claim.keys().count() });
        lookup.is_proved()
    }

    fn proofs(seconds: i64) -> Proofs {
        Proofs::new(SignedDuration::from_secs(seconds))
    }

    #[test]
    fn a_proof_is_remembered_for_its_time_and_only_for_its_claim() {
        let proofs = proofs(2);
        claim_at(&proofs, claim(Level::Client, "a"), 5000);
        for (millis, expected) in [(4999, false), (5000, true), (6999, true), (7000, false)] {
            assert_eq!(is_remembered(&proofs, claim(Level::Client, "a"), millis), expected, "{millis}");
        }
        let elsewhere = ProjectId::parse("6fbbf22e-f4b2-4c6e-95a1-beab6fa41063").expect("an id");
        let others = [
            claim(Level::Server, "a"),
            claim(Level::Client, "b"),
            Claim { key: None, ..claim(Level::Client, "a") },
            Claim { project: elsewhere, ..claim(Level::Client, "a") },
        ];
        for other in others {
            assert!(!is_remembered(&proofs, other.clone(), 5000), "{other:?}");
        }
    }

    #[test]
    fn the_use_of_a_proof_does_not_extend_its_time() {
        let proofs = proofs(2);
        for millis in [5000, 6000, 6999] {
            claim_at(&proofs, claim(Level::Client, "a"), millis);
        }
        assert!(!is_remembered(&proofs, claim(Level::Client, "a"), 7000));
    }

    #[test]
    fn a_request_that_does_not_permit_it_neither_uses_nor_leaves_a_proof() {
        let proofs = proofs(2);
        proofs.look_up(claim(Level::Client, "a"), false, at(0)).remember(&proofs, &proof());
        assert!(!is_remembered(&proofs, claim(Level::Client, "a"), 0));
        claim_at(&proofs, claim(Level::Client, "a"), 0);
        assert!(!proofs.look_up(claim(Level::Client, "a"), false, at(0)).is_proved());
    }

    #[test]
    fn administrators_and_deployments_without_the_setting_are_not_remembered() {
        let (on, off) = (proofs(2), proofs(0));
        claim_at(&on, claim(Level::Admin, "a"), 0);
        claim_at(&off, claim(Level::Client, "a"), 0);
        assert!(on.proved().is_empty() && off.proved().is_empty());
    }

    #[test]
    fn a_flood_of_claims_does_not_fill_the_memory() {
        let proofs = proofs(2);
        for number in 0..MAX_PROOFS * 2 + 10 {
            claim_at(&proofs, claim(Level::Client, &number.to_string()), 0);
            assert!(proofs.proved().len() <= MAX_PROOFS);
        }
    }
}
