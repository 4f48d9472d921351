//! Tokens signed with the RSA keys of a project. The keys are in the table, so a process must read
//! them ([`Signer::learn`]) before it can sign or verify with them.

use std::sync::Arc;
use std::time::Duration;

use crypto::rsa_key::RsaPrivateKey;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, Header};
use serde::Deserialize;
use wire::id::ProjectId;

use super::{Signer, Subject, TYPE};
use crate::project::signing_key::{RsaKeys, TokenAlgorithm};

/// A project without an RSA key, or with a damaged one, signs with RS256.
#[derive(Debug, thiserror::Error)]
#[error("the project's RSA key is missing or damaged")]
pub struct NoUsableKey;

/// The audience of a token, which is the project's id if it may be signed with an RSA key.
#[derive(Deserialize)]
struct ClaimedAudience {
    aud: String,
}

impl Subject {
    /// How the token is signed, in a project with this algorithm. Restricted and anonymous users
    /// have other issuers, which verifiers that need RSA do not know, and keys of their own, so
    /// that a verifier that checks only signatures accepts none of these users.
    pub fn algorithm(&self, of_project: TokenAlgorithm) -> TokenAlgorithm {
        if self.restricted.is_none() { of_project } else { TokenAlgorithm::Es256 }
    }
}

impl Signer {
    /// The keys of a project, if they were read less than a minute ago.
    pub fn known_rsa_keys(&self, project: &ProjectId, now: Timestamp) -> Option<Arc<RsaKeys>> {
        self.rsa.fresh(project, now)
    }

    /// Remembers the keys of a project that were read at `now`.
    pub fn learn(&self, project: &ProjectId, keys: RsaKeys, now: Timestamp) -> Arc<RsaKeys> {
        let keys = Arc::new(keys);
        self.rsa.keep(project, Arc::clone(&keys), now);
        keys
    }

    /// The project whose keys must be read before this token, which may be forged, can be verified.
    pub fn must_learn(&self, token: &str, now: Timestamp) -> Option<ProjectId> {
        let Ok(Header { alg: Algorithm::RS256, kid: Some(kid), .. }) = jsonwebtoken::decode_header(token) else { return None };
        let ClaimedAudience { aud } = jsonwebtoken::dangerous::insecure_decode_claims(token).ok()?;
        let project = ProjectId::parse(&aud).ok()?;
        let is_known = self.rsa.fresh(&project, now).is_some_and(|keys| keys.verifying(&kid, now).is_some());
        (!is_known).then_some(project)
    }

    /// Signs a token that is valid for `life` from `now` with the key that has this id.
    pub fn sign_with_rsa(
        &self,
        subject: &Subject,
        now: Timestamp,
        life: Duration,
        (kid, key): (String, &RsaPrivateKey),
    ) -> Result<String, NoUsableKey> {
        let header = Header { typ: Some(TYPE.to_owned()), kid: Some(kid), ..Header::new(Algorithm::RS256) };
        let key = key.encoding().map_err(|_| NoUsableKey)?;
        jsonwebtoken::encode(&header, &self.claims(subject, now, life), &key).map_err(|_| NoUsableKey)
    }
}
