//! Tokens signed with the RSA keys of a project. The keys are in the table, so a process must read
//! them ([`Signer::learn`]) before it can sign or verify tokens with the keys.

use std::sync::Arc;
use std::time::Duration;

use crypto::rsa_key::RsaPrivateKey;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, Header};
use serde::Deserialize;
use wire::id::ProjectId;

use super::{Signer, Subject, TYPE};
use crate::project::signing_key::{RsaKeys, TokenAlgorithm};

/// The project signs with RS256, but its RSA key is missing or damaged.
#[derive(Debug, thiserror::Error)]
#[error("the project's RSA key is missing or damaged")]
pub struct NoUsableKey;

/// The audience that a token claims; the id of a project if the token may be signed with an RSA
/// key.
#[derive(Deserialize)]
struct ClaimedAudience {
    aud: String,
}

impl Subject {
    /// The algorithm for a token in a project that uses `of_project`. Tokens of restricted and
    /// anonymous users always use ES256: they have other issuers, which verifiers that need RSA do
    /// not trust. With separate keys, even a verifier that checks only signatures does not accept
    /// these users.
    pub fn algorithm(&self, of_project: TokenAlgorithm) -> TokenAlgorithm {
        if self.restricted.is_none() { of_project } else { TokenAlgorithm::Es256 }
    }
}

impl Signer {
    /// The keys of a project, if they were read less than a minute ago.
    pub fn known_rsa_keys(&self, project: &ProjectId, now: Timestamp) -> Option<Arc<RsaKeys>> {
        self.rsa.fresh(project, now)
    }

    /// Stores the keys of a project that were read at `now`.
    pub fn learn(&self, project: &ProjectId, keys: RsaKeys, now: Timestamp) -> Arc<RsaKeys> {
        let keys = Arc::new(keys);
        self.rsa.keep(project, Arc::clone(&keys), now);
        keys
    }

    /// The project whose keys must be read before this token can be verified. The token has not
    /// been verified yet and may be forged.
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
