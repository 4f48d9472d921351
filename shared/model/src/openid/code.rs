//! Authorization codes of clients.

use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;
use wire::id::{OauthClientId, SessionId, UserId};

use crate::openid::request::AuthorizationRequest;
use crate::session::resource_scopes::ResourceScopes;
use crate::session::scope::Scopes;
use crate::session::{Amr, Session};
use crate::sign_in::authorization::challenge;
use crate::user::User;

/// How long a code is valid.
pub const CODE_LIFE: SignedDuration = SignedDuration::from_secs(60);
/// How long an expired code is remembered, so that a second use is detected.
pub const CODE_MEMORY: SignedDuration = SignedDuration::from_hours(24);

/// An authorization code for a client, stored under its digest.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientCode {
    /// The client.
    pub client_id: OauthClientId,
    /// The user.
    pub user_id: UserId,
    /// The user's credential epoch when the code was created: a later change of credentials
    /// invalidates the code.
    pub epoch: u64,
    /// The redirect URI of the request.
    pub redirect_uri: String,
    /// The PKCE challenge; absent if the client omitted it.
    pub code_challenge: Option<String>,
    /// The nonce for the ID token.
    pub nonce: Option<String>,
    /// The scopes that the user has granted for this session, other than those of resources.
    pub scopes: Scopes,
    /// The resources that the client may use in this session.
    #[serde(default, skip_serializing_if = "ResourceScopes::is_empty")]
    pub resources: ResourceScopes,
    /// The serial of the user's grant; absent for clients that belong to the project itself.
    pub grant: Option<Uuid>,
    /// The session in which the user granted the request.
    pub begun_in: SessionId,
    /// When the user authenticated in that session.
    pub authenticated_at: Timestamp,
    /// How the user authenticated in that session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amr: Vec<Amr>,
    /// When the code expires.
    pub expires_at: Timestamp,
    /// The session that was started with the code; absent until the code is redeemed.
    pub session_id: Option<SessionId>,
}

impl ClientCode {
    /// A code for a request that the user of this session has granted.
    pub fn new(request: &AuthorizationRequest, user: &User, session: &Session, grant: Option<Uuid>, expires_at: Timestamp) -> Self {
        Self {
            client_id: request.client_id,
            user_id: user.id,
            epoch: user.credential_epoch,
            redirect_uri: request.back.redirect_uri.clone(),
            code_challenge: request.code_challenge.clone(),
            nonce: request.nonce.clone(),
            scopes: request.scopes.clone(),
            resources: request.resources.clone(),
            grant,
            begun_in: session.id,
            authenticated_at: session.authenticated_at.unwrap_or(session.created_at),
            amr: session.amr.clone(),
            expires_at,
            session_id: None,
        }
    }

    /// Whether `verifier` matches the code's challenge. If the code does not have a challenge,
    /// there must not be a verifier.
    pub fn is_verified_by(&self, verifier: Option<&SecretString>) -> bool {
        match (&self.code_challenge, verifier) {
            (Some(expected), Some(verifier)) => challenge(verifier.expose_secret()).as_bytes().ct_eq(expected.as_bytes()).into(),
            (None, None) => true,
            // A verifier without a challenge means that an attacker removed the challenge from the
            // request (RFC 9700 §4.8.2).
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}
