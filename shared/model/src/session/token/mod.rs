//! Access tokens of users: their audiences and claims, and how the tokens are signed and verified.

pub mod client;
pub mod client_verification;
mod keyring;
pub mod machine;
pub mod rsa;

use std::time::Duration;

use crypto::deployment_secret::DeploymentSecret;
use crypto::signing::SigningKeys;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, Header, Validation};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::id::{ProjectId, SessionId, TeamId, UserId};

use crate::project::ProjectConfig;
use crate::session::Session;
use crate::session::token::keyring::Keyring;
use crate::user::User;
use crate::user::restriction::RestrictedReason;

/// The audience of a user's token. Machines have a separate audience ([`machine`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Audience {
    /// Users without restrictions.
    Normal,
    /// Restricted users.
    Restricted,
    /// Anonymous users.
    Anonymous,
}

impl Audience {
    const ALL: [Self; 3] = [Self::Normal, Self::Restricted, Self::Anonymous];

    fn name(self, project: &ProjectId) -> String {
        match self {
            Self::Normal => project.to_string(),
            Self::Restricted => format!("{project}:restricted"),
            Self::Anonymous => format!("{project}:anon"),
        }
    }

    fn issuer(self, api_url: &str, project: &ProjectId) -> String {
        let collection = match self {
            Self::Normal => "projects",
            Self::Restricted => "projects-restricted-users",
            Self::Anonymous => "projects-anonymous-users",
        };
        format!("{api_url}/api/v1/{collection}/{project}")
    }
}

fn machine_audience(project: &ProjectId) -> String {
    format!("{project}:machine")
}

/// The payload of a user's access token: exactly these claims.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claims {
    /// The user.
    pub sub: UserId,
    /// The issuer that belongs to the audience.
    pub iss: String,
    /// The project, with a suffix for restricted and anonymous users.
    pub aud: String,
    /// When the token was issued, in seconds since the Unix epoch.
    pub iat: i64,
    /// When the token expires, in seconds since the Unix epoch.
    pub exp: i64,
    /// The OAuth client (RFC 9068 §2.2), which is the project itself. Absent in tokens from earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<ProjectId>,
    /// The scopes (RFC 9068 §2.2.3), separated by spaces. Absent in tokens from earlier versions.
    #[serde(default)]
    pub scope: String,
    /// The project.
    pub project_id: ProjectId,
    /// Always `main`.
    pub branch_id: String,
    /// The session.
    pub refresh_token_id: SessionId,
    /// Always `authenticated`.
    pub role: String,
    /// The user's display name.
    pub name: Option<String>,
    /// The user's primary address.
    pub email: Option<String>,
    /// Whether the primary address is verified.
    pub email_verified: bool,
    /// The team that the user has selected.
    pub selected_team_id: Option<String>,
    /// When the user signed up, in seconds since the Unix epoch.
    pub signed_up_at: i64,
    /// Whether the user is anonymous.
    pub is_anonymous: bool,
    /// Whether the user is restricted.
    pub is_restricted: bool,
    /// Why the user is restricted; `null` if the user is not restricted.
    pub restricted_reason: Option<RestrictedReason>,
    /// Whether the user has an authenticator app, which means that sign-ins require a second
    /// factor.
    pub requires_totp_mfa: bool,
}

impl Claims {
    /// The team that the user has selected.
    pub fn selected_team(&self) -> Option<TeamId> {
        self.selected_team_id.as_deref().and_then(|id| TeamId::parse(id).ok())
    }
}

/// The content of a token, without its issuer, audience, and times of issue and expiry.
pub struct Subject {
    /// The user.
    pub user: UserId,
    /// The project.
    pub project: ProjectId,
    /// The session.
    pub session: SessionId,
    /// The user's display name.
    pub name: Option<String>,
    /// The user's primary address.
    pub email: Option<String>,
    /// Whether the primary address is verified.
    pub email_verified: bool,
    /// The team that the user has selected.
    pub selected_team: Option<String>,
    /// When the user signed up.
    pub signed_up_at: Timestamp,
    /// Why the user is restricted; absent if the user is not.
    pub restricted: Option<RestrictedReason>,
    /// Whether the user has an authenticator app, which means that sign-ins require a second
    /// factor.
    pub requires_totp: bool,
}

impl Subject {
    /// The content of an access token for a user's session.
    pub fn of(user: &User, project: &ProjectId, config: &ProjectConfig, session: &Session) -> Self {
        let primary = user.primary();
        Subject {
            user: user.id,
            project: project.clone(),
            session: session.id,
            name: user.display_name.clone(),
            email: primary.map(|channel| channel.value.to_string()),
            email_verified: primary.is_some_and(|channel| channel.is_verified),
            selected_team: user.selected_team_id.map(|team| team.to_string()),
            signed_up_at: user.signed_up_at,
            restricted: user.restricted_reason_in(session, config),
            requires_totp: user.totp.is_some(),
        }
    }
}

/// Why the user is restricted; absent if the user is not restricted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The token is malformed, is not an access token, is not signed with a key of this deployment,
    /// or has inconsistent claims. Whether the user has an authenticator app, which means that
    /// sign-ins require a second factor.
    #[error("the token is not a valid access token of this service")]
    Unparsable,
    /// The signature is valid, but the token has expired.
    #[error("the token has expired")]
    Expired(Box<Claims>),
}

/// Stores verified tokens, so that they do not have to be verified again in every request.
pub trait Remember: Send + Sync {
    /// The claims of a stored token. The caller must check the expiry.
    fn claims(&self, token: &str) -> Option<Claims>;

    /// Stores a token that was valid at `now`.
    fn keep(&self, token: &str, claims: &Claims, now: Timestamp);
}

/// Signs and verifies the tokens of all projects.
pub struct Signer {
    keys: SigningKeys,
    rsa: Keyring,
    api_url: String,
    memory: Option<Box<dyn Remember>>,
}

/// The `typ` of access tokens (RFC 9068 §2.1). This value distinguishes access tokens from all
/// other tokens that are signed with the same key.
const TYPE: &str = "at+jwt";

/// The scopes of sessions of the project's apps: all scopes that describe a user.
const SCOPE: &str = "openid profile email teams permissions";

/// Whether a token with this `typ` is an access token. Tokens from earlier versions do not have a
/// `typ`.
fn is_access_token(typ: Option<&str>) -> bool {
    // `typ` is a media type, which is case-insensitive and may omit the prefix `application/` (RFC
    // 7515 §4.1.9).
    typ.is_none_or(|typ| [TYPE, "application/at+jwt"].iter().any(|known| typ.eq_ignore_ascii_case(known)))
}

impl Signer {
    /// The signer of the deployment at this URL.
    pub fn new(secret: &DeploymentSecret, api_url: &str) -> Self {
        Self { keys: SigningKeys::new(secret), rsa: Keyring::default(), api_url: api_url.to_owned(), memory: None }
    }

    /// This signer with `memory` as the store of verified tokens.
    #[must_use]
    pub fn remembering_in(self, memory: impl Remember + 'static) -> Self {
        Self { memory: Some(Box::new(memory)), ..self }
    }

    /// Signs a token that is valid for `life` from `now` with ES256.
    #[expect(clippy::expect_used, reason = "claims can always be serialized, and a derived key can sign")]
    pub fn sign(&self, subject: &Subject, now: Timestamp, life: Duration) -> String {
        let claims = self.claims(subject, now, life);
        let key = self.keys.current(&claims.aud);
        let header = Header { typ: Some(TYPE.to_owned()), kid: Some(key.id.clone()), ..Header::new(Algorithm::ES256) };
        jsonwebtoken::encode(&header, &claims, &key.encoding).expect("a token can be signed")
    }

    fn claims(&self, subject: &Subject, now: Timestamp, life: Duration) -> Claims {
        let audience = match &subject.restricted {
            None => Audience::Normal,
            Some(RestrictedReason::Anonymous) => Audience::Anonymous,
            Some(_) => Audience::Restricted,
        };
        let iat = now.as_second();
        Claims {
            sub: subject.user,
            iss: audience.issuer(&self.api_url, &subject.project),
            aud: audience.name(&subject.project),
            iat,
            exp: iat.saturating_add_unsigned(life.as_secs()),
            client_id: Some(subject.project.clone()),
            scope: SCOPE.to_owned(),
            project_id: subject.project.clone(),
            branch_id: "main".to_owned(),
            refresh_token_id: subject.session,
            role: "authenticated".to_owned(),
            name: subject.name.clone(),
            email: subject.email.clone(),
            email_verified: subject.email_verified,
            selected_team_id: subject.selected_team.clone(),
            signed_up_at: subject.signed_up_at.as_second(),
            is_anonymous: audience == Audience::Anonymous,
            is_restricted: subject.restricted.is_some(),
            restricted_reason: subject.restricted,
            requires_totp_mfa: subject.requires_totp,
        }
    }

    /// Verifies an access token of a user of any project. If the token may be signed with an RSA
    /// key, the project's keys must have been read ([`Self::must_learn`]).
    pub fn verify(&self, token: &str, now: Timestamp) -> Result<Claims, Error> {
        let memory = self.memory.as_ref();
        let known = memory.and_then(|memory| memory.claims(token));
        let is_known = known.is_some();
        let (claims, algorithm) = known.map_or_else(|| self.signed(token, now), |claims| Ok((claims, Algorithm::ES256)))?;
        if claims.exp <= now.as_second() {
            return Err(Error::Expired(Box::new(claims)));
        }
        // Tokens signed with an RSA key are not stored, because the key may be revoked and
        // verification is cheap.
        if let Some(memory) = memory.filter(|_| !is_known && algorithm == Algorithm::ES256) {
            memory.keep(token, &claims, now);
        }
        Ok(claims)
    }

    /// The claims of a token with a valid signature, and its algorithm; the token may have expired.
    /// The audience of the token contains the project, and determines the key and the issuer.
    fn signed(&self, token: &str, now: Timestamp) -> Result<(Claims, Algorithm), Error> {
        let unverified: Claims = jsonwebtoken::dangerous::insecure_decode_claims(token).map_err(|_| Error::Unparsable)?;
        let project = unverified.aud.split(':').next().and_then(|id| ProjectId::parse(id).ok()).ok_or(Error::Unparsable)?;
        let audience = Audience::ALL.into_iter().find(|audience| audience.name(&project) == unverified.aud);
        let audience = audience.ok_or(Error::Unparsable)?;
        let header = jsonwebtoken::decode_header(token).map_err(|_| Error::Unparsable)?;
        if !is_access_token(header.typ.as_deref()) {
            return Err(Error::Unparsable);
        }
        let mut validation = Validation::new(header.alg);
        validation.set_audience(&[&unverified.aud]);
        validation.set_issuer(&[audience.issuer(&self.api_url, &project)]);
        validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        // jsonwebtoken uses the system clock, so the expiry is checked with the app's clock.
        validation.validate_exp = false;
        let kid = header.kid.ok_or(Error::Unparsable)?;
        let key = match (header.alg, audience) {
            // Keys are derived lazily, so a token signed with the key of the current secret takes
            // only one derivation.
            (Algorithm::ES256, _) => self.keys.all(&unverified.aud).find(|key| key.id == kid).map(|key| key.decoding.clone()),
            (Algorithm::RS256, Audience::Normal) => self.rsa.verifying(&project, &kid, now),
            _ => None,
        };
        let key = key.ok_or(Error::Unparsable)?;
        let claims: Claims = jsonwebtoken::decode(token, &key, &validation).map_err(|_| Error::Unparsable)?.claims;
        let consistent = claims.project_id == project && claims.is_anonymous == (audience == Audience::Anonymous);
        if consistent { Ok((claims, header.alg)) } else { Err(Error::Unparsable) }
    }

    /// The public keys of a project (RFC 7517) for normal, restricted and anonymous users and for
    /// machines, in this order, followed by the keys derived from the previous secret. `restricted`
    /// includes the key for restricted users, `anonymous` includes the keys for anonymous and
    /// restricted users, and `machines` includes the key for machines. RSA keys are not included.
    pub fn jwks(&self, project: &ProjectId, restricted: bool, anonymous: bool, machines: bool) -> Vec<Value> {
        let wanted = [(Audience::Normal, true), (Audience::Restricted, restricted || anonymous), (Audience::Anonymous, anonymous)];
        let audiences = wanted.into_iter().filter(|(_, wanted)| *wanted).map(|(audience, _)| audience.name(project));
        let audiences: Vec<String> = audiences.chain(machines.then(|| machine_audience(project))).collect();
        self.keys.jwks(&audiences)
    }
}

#[cfg(test)]
mod tests;
