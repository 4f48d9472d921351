//! Verifies tokens of the project's OAuth clients that clients send back.

use jiff::Timestamp;
use jsonwebtoken::{Algorithm, Validation};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wire::id::{ProjectId, SessionId, UserId};

use super::client::{ID_TYPE, auth_time, issuer, userinfo_endpoint};
use super::{Audience, Error, Signer, is_access_token};
use crate::session::Session;
use crate::session::client_name::ClientName;

/// The claims that are read from a client's access token.
#[derive(Debug, Clone, Deserialize)]
pub struct ClientTokenClaims {
    /// The user.
    pub sub: UserId,
    /// The session.
    pub sid: SessionId,
    /// The client.
    pub client_id: ClientName,
    /// The service for which the token is valid.
    pub aud: String,
    /// The scopes, separated by spaces.
    pub scope: String,
    /// When the token expires, in seconds since the Unix epoch.
    pub exp: i64,
}

/// The claims that are read from an ID token that a client sends back.
#[derive(Debug, Clone, Deserialize)]
pub struct IdTokenHint {
    /// The user.
    pub sub: UserId,
    /// The session.
    pub sid: SessionId,
    /// The client.
    pub aud: ClientName,
    /// When the user authenticated, in seconds since the Unix epoch.
    auth_time: i64,
}

impl IdTokenHint {
    /// Whether the client's session began in this session. If so, the times of authentication are
    /// equal.
    pub fn is_of(&self, session: &Session) -> bool {
        self.auth_time == auth_time(session)
    }
}

impl Signer {
    /// Verifies an access token of one of this project's clients, which must be valid for the
    /// userinfo endpoint. If the token is signed with an RSA key, the project's keys must have been
    /// read.
    pub fn verify_client(&self, token: &str, project: &ProjectId, now: Timestamp) -> Result<ClientTokenClaims, Error> {
        let issuer = issuer(&self.api_url, project);
        let audiences = [userinfo_endpoint(&issuer), Audience::Normal.name(project)];
        self.verify_client_for(token, project, Some(&audiences), now)
    }

    /// Like [`Self::verify_client`], but the token can be for any service.
    pub fn verify_client_for_any(&self, token: &str, project: &ProjectId, now: Timestamp) -> Result<ClientTokenClaims, Error> {
        self.verify_client_for(token, project, None, now)
    }

    fn verify_client_for(
        &self,
        token: &str,
        project: &ProjectId,
        audiences: Option<&[String]>,
        now: Timestamp,
    ) -> Result<ClientTokenClaims, Error> {
        let is_type = |typ: Option<&str>| typ.is_some_and(|typ| is_access_token(Some(typ)));
        let claims: ClientTokenClaims = self.signed_by(token, project, is_type, audiences, now)?;
        if claims.exp <= now.as_second() { Err(Error::Unparsable) } else { Ok(claims) }
    }

    /// Verifies an ID token that a client sends back as a hint, which may have expired
    /// (RP-Initiated Logout 1.0 §2). If the token is signed with an RSA key, the project's keys
    /// must have been read.
    pub fn verify_hint(&self, token: &str, project: &ProjectId, now: Timestamp) -> Result<IdTokenHint, Error> {
        self.signed_by(token, project, |typ| typ == Some(ID_TYPE), None, now)
    }

    /// The claims of a token, if this project signed it. jsonwebtoken uses the system clock, so the
    /// caller checks the expiry.
    fn signed_by<C: DeserializeOwned>(
        &self,
        token: &str,
        project: &ProjectId,
        is_type: impl Fn(Option<&str>) -> bool,
        audiences: Option<&[String]>,
        now: Timestamp,
    ) -> Result<C, Error> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| Error::Unparsable)?;
        if !is_type(header.typ.as_deref()) {
            return Err(Error::Unparsable);
        }
        let mut validation = Validation::new(header.alg);
        match audiences {
            Some(audiences) => validation.set_audience(audiences),
            None => validation.validate_aud = false,
        }
        validation.set_issuer(&[issuer(&self.api_url, project)]);
        validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        validation.validate_exp = false;
        let kid = header.kid.ok_or(Error::Unparsable)?;
        let key = match header.alg {
            Algorithm::ES256 => self.keys.all(&Audience::Normal.name(project)).find(|key| key.id == kid).map(|key| key.decoding.clone()),
            Algorithm::RS256 => self.rsa.verifying(project, &kid, now),
            _ => None,
        };
        let key = key.ok_or(Error::Unparsable)?;
        Ok(jsonwebtoken::decode(token, &key, &validation).map_err(|_| Error::Unparsable)?.claims)
    }
}
