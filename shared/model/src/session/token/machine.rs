//! Access tokens of machines, which backends get from the token endpoint in exchange for their
//! server keys.
//!
//! Machines have a separate audience, and therefore a separate signing key. A user's access token
//! is never accepted as a machine's token, or vice versa.

use std::time::Duration;

use crypto::digest::Digest;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, Header, Validation};
use serde::{Deserialize, Serialize};
use wire::id::{KeySetId, ProjectId};

use super::{Audience, Error, Signer, TYPE, is_access_token, machine_audience};

/// The payload of a machine's access token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MachineClaims {
    /// The key set of the server key.
    pub sub: KeySetId,
    /// The issuer of the project.
    pub iss: String,
    /// The project, with the suffix `:machine`.
    pub aud: String,
    /// When the token was issued, in seconds since the Unix epoch.
    pub iat: i64,
    /// When the token expires, in seconds since the Unix epoch.
    pub exp: i64,
    /// The OAuth client, which is the project itself.
    pub client_id: ProjectId,
    /// The digest of the server key. Each request looks up the key by this digest, so a token
    /// always has the current permissions of the key.
    pub key: Digest,
    /// The permissions of the key when the token was issued, separated by spaces; `server` for a
    /// key with all permissions.
    pub scope: String,
}

/// A server key that is exchanged for a token.
pub struct Machine<'a> {
    /// The project.
    pub project: &'a ProjectId,
    /// The key set of the key.
    pub set: KeySetId,
    /// The digest of the key.
    pub key: Digest,
    /// The permissions of the key, as in [`MachineClaims::scope`].
    pub scope: String,
}

impl Signer {
    /// Signs a token that is valid for `life` from `now`.
    #[expect(clippy::expect_used, reason = "claims can always be serialized, and a derived key can sign")]
    pub fn sign_machine(&self, machine: Machine<'_>, now: Timestamp, life: Duration) -> String {
        let Machine { project, set, key, scope } = machine;
        let (iat, aud) = (now.as_second(), machine_audience(project));
        let exp = iat.saturating_add_unsigned(life.as_secs());
        let iss = Audience::Normal.issuer(&self.api_url, project);
        let claims = MachineClaims { sub: set, iss, aud, iat, exp, client_id: project.clone(), key, scope };
        let key = self.keys.current(&claims.aud);
        let header = Header { typ: Some(TYPE.to_owned()), kid: Some(key.id.clone()), ..Header::new(Algorithm::ES256) };
        jsonwebtoken::encode(&header, &claims, &key.encoding).expect("a token can be signed")
    }

    /// Verifies a machine's access token for this project. Every failure is [`Error::Unparsable`],
    /// even for an expired token.
    pub fn verify_machine(&self, token: &str, project: &ProjectId, now: Timestamp) -> Result<MachineClaims, Error> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| Error::Unparsable)?;
        if !header.typ.is_some_and(|typ| is_access_token(Some(&typ))) {
            return Err(Error::Unparsable);
        }
        let audience = machine_audience(project);
        let mut validation = Validation::new(Algorithm::ES256);
        validation.set_audience(&[&audience]);
        validation.set_issuer(&[Audience::Normal.issuer(&self.api_url, project)]);
        validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        // jsonwebtoken uses the system clock, so the expiry is checked below with the app's clock.
        validation.validate_exp = false;
        let key = self.keys.all(&audience).find(|key| header.kid.as_ref() == Some(&key.id)).ok_or(Error::Unparsable)?;
        let claims: MachineClaims = jsonwebtoken::decode(token, &key.decoding, &validation).map_err(|_| Error::Unparsable)?.claims;
        if claims.exp <= now.as_second() { Err(Error::Unparsable) } else { Ok(claims) }
    }
}
