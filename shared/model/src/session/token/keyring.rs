//! The RSA keys of projects that a process has read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use jsonwebtoken::DecodingKey;
use wire::clock::after;
use wire::id::ProjectId;

use crate::project::signing_key::RsaKeys;

/// How long a process uses keys before reading them again. A leaked key may be accepted for this
/// long after it was replaced.
const FRESH: SignedDuration = SignedDuration::from_mins(1);
/// The maximum number of projects whose keys a process keeps in memory; the keys of a project take
/// about 5 KB.
const MAX_PROJECTS: usize = 1000;

/// The keys of projects, as read from the table.
#[derive(Default)]
pub(super) struct Keyring(Mutex<HashMap<ProjectId, (Arc<RsaKeys>, Timestamp)>>);

impl Keyring {
    fn known(&self) -> MutexGuard<'_, HashMap<ProjectId, (Arc<RsaKeys>, Timestamp)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The keys of a project, if they were read recently.
    pub(super) fn fresh(&self, project: &ProjectId, now: Timestamp) -> Option<Arc<RsaKeys>> {
        let known = self.known();
        let (keys, read_at) = known.get(project)?;
        (now < after(*read_at, FRESH)).then(|| Arc::clone(keys))
    }

    /// The key that verifies tokens with this `kid`.
    pub(super) fn verifying(&self, project: &ProjectId, kid: &str, now: Timestamp) -> Option<DecodingKey> {
        self.fresh(project, now)?.verifying(kid, now)?.public.decoding().ok()
    }

    /// Stores the keys of a project that were read at `now`.
    pub(super) fn keep(&self, project: &ProjectId, keys: Arc<RsaKeys>, now: Timestamp) {
        let mut known = self.known();
        if known.len() >= MAX_PROJECTS {
            known.clear();
        }
        known.insert(project.clone(), (keys, now));
    }
}
