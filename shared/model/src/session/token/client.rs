//! Tokens of the project's OAuth clients: access tokens (RFC 9068) and ID tokens (OpenID Connect
//! Core §2).
//!
//! If a client belongs to the project itself, the project is the audience of the client's access
//! tokens, as for the tokens of the project's apps, and the API accepts the tokens. Access tokens
//! of all other clients are only for the userinfo endpoint, because services must not mistake such
//! a token for a token of the project's apps. If the client requests a token for a resource, only
//! that resource is the audience (RFC 8707 §2).

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use crypto::rsa_key::RsaPrivateKey;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, Header};
use ring::digest::{SHA256, digest};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;
use wire::id::{ProjectId, SessionId, UserId};

use super::rsa::NoUsableKey;
use super::{Audience, Signer, Subject, TYPE};
use crate::session::client::{ACR_MFA, ACR_SINGLE, ClientSession};
use crate::session::client_name::ClientName;
use crate::session::resource_scopes::ResourceIdentifier;
use crate::session::scope::{Scope, Scopes};
use crate::session::{Amr, Session};
use crate::user::{Channel, User};

/// The issuer of a project's tokens: the `iss` in tokens of users without restrictions.
pub fn issuer(api_url: &str, project: &ProjectId) -> String {
    Audience::Normal.issuer(api_url, project)
}

/// The endpoint that returns claims about the user. Tokens that are valid only at this endpoint
/// have its URL as their audience.
pub fn userinfo_endpoint(issuer: &str) -> String {
    format!("{issuer}/oauth2/userinfo")
}

/// The payload of a client's access token. The payload contains the claims of every access token,
/// with the client's `client_id` and `aud`, and without the claims that the client may not read.
#[derive(Debug, Clone, Serialize)]
pub struct ClientClaims {
    #[serde(flatten)]
    claims: Value,
    client_id: ClientName,
    /// The session.
    sid: SessionId,
    /// When the user authenticated, in seconds since the Unix epoch.
    auth_time: i64,
    /// How the user authenticated (RFC 8176).
    amr: Vec<Amr>,
    /// The authentication context class.
    acr: &'static str,
    /// The id of the token.
    jti: Uuid,
}

/// The payload of an ID token.
#[wire::sparse]
#[derive(Debug, Clone, Serialize)]
pub struct IdClaims {
    iss: String,
    sub: UserId,
    aud: ClientName,
    /// The party to which the token was issued.
    azp: ClientName,
    /// When the token was issued, in seconds since the Unix epoch.
    iat: i64,
    /// When the token expires, in seconds since the Unix epoch.
    exp: i64,
    /// When the user authenticated, in seconds since the Unix epoch.
    auth_time: i64,
    /// The nonce of the request.
    nonce: Option<String>,
    acr: &'static str,
    amr: Vec<Amr>,
    /// The session.
    sid: SessionId,
    /// The left half of the digest of the access token that is issued with this ID token.
    at_hash: Option<String>,
    #[serde(flatten)]
    about: UserClaims,
}

/// The claims that a client may learn about a user with its scopes (OpenID Connect Core §5.4).
#[wire::sparse]
#[derive(Debug, Clone, Default, Serialize, utoipa::ToSchema)]
pub struct UserClaims {
    /// The user's display name. With the scope `profile`.
    pub name: Option<String>,
    /// The URL of the user's picture. With the scope `profile`.
    pub picture: Option<String>,
    /// When the user signed up, in seconds since the Unix epoch. With the scope `profile`.
    pub signed_up_at: Option<i64>,
    /// The user's primary address. With the scope `email`.
    pub email: Option<String>,
    /// Whether the address is verified. With the scope `email`.
    pub email_verified: Option<bool>,
}

impl UserClaims {
    /// What these scopes permit.
    pub fn of(user: &User, scopes: &Scopes) -> Self {
        let (profile, email) = (scopes.has(Scope::Profile), scopes.has(Scope::Email));
        let primary = user.primary().filter(|_| email);
        Self {
            name: user.display_name.clone().filter(|_| profile),
            picture: user.profile_image_url.clone().filter(|_| profile),
            signed_up_at: profile.then(|| user.signed_up_at.as_second()),
            email: primary.map(|channel| channel.value.to_string()),
            // Clients find accounts by verified addresses, so the address must be confirmed. The
            // person who opened a verification link without a session may not be the user of the
            // account.
            email_verified: primary.map(Channel::is_confirmed),
        }
    }
}

/// The `typ` of ID tokens.
pub(super) const ID_TYPE: &str = "JWT";

/// A token that is about to be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenType {
    /// An access token (RFC 9068 §2.1).
    Access,
    /// An ID token, which must never be accepted as an access token.
    Id,
}

impl TokenType {
    fn header(self) -> String {
        match self {
            Self::Access => TYPE.to_owned(),
            Self::Id => ID_TYPE.to_owned(),
        }
    }
}

/// The `acr` (authentication context class reference, OpenID Connect Core §2) for these
/// authentication methods.
fn acr(amr: &[Amr]) -> &'static str {
    if amr.contains(&Amr::Mfa) { ACR_MFA } else { ACR_SINGLE }
}

pub(super) fn auth_time(session: &Session) -> i64 {
    session.authenticated_at.unwrap_or(session.created_at).as_second()
}

impl Signer {
    /// The claims of an access token for a session of a client, valid for `life` from `now`.
    /// `is_confirmed` indicates whether the user is known to receive emails at the address.
    pub fn client_claims(
        &self,
        (subject, is_confirmed): (&Subject, bool),
        session: &Session,
        (name, client, resource): (ClientName, &ClientSession, Option<(&ResourceIdentifier, &Scopes)>),
        jti: Uuid,
        (now, life): (Timestamp, Duration),
    ) -> ClientClaims {
        let mut claims = self.claims(subject, now, life);
        claims.client_id = None;
        claims.scope = resource.map_or(&client.scopes, |(_, scopes)| scopes).to_string();
        claims.email_verified &= is_confirmed;
        let has = |scope: Scope| client.scopes.has(scope);
        let mut left_out = Vec::new();
        if !client.is_first_party() {
            claims.aud = userinfo_endpoint(&claims.iss);
            left_out.extend(["requires_totp_mfa", "is_restricted", "restricted_reason", "is_anonymous", "role", "branch_id"]);
            left_out.extend((!has(Scope::Teams)).then_some("selected_team_id"));
            left_out.extend((!has(Scope::Profile)).then_some("signed_up_at"));
        }
        if let Some((resource, _)) = resource {
            claims.aud = resource.to_string();
        }
        if !has(Scope::Profile) {
            claims.name = None;
        }
        if !has(Scope::Email) {
            (claims.email, claims.email_verified) = (None, false);
        }
        let mut claims = serde_json::to_value(claims).unwrap_or_default();
        if let Value::Object(fields) = &mut claims {
            fields.retain(|name, _| !left_out.contains(&name.as_str()));
        }
        ClientClaims {
            claims,
            client_id: name,
            sid: session.id,
            auth_time: auth_time(session),
            acr: acr(&session.amr),
            amr: session.amr.clone(),
            jti,
        }
    }

    /// The claims of an ID token that is issued together with an access token.
    pub fn id_claims(
        &self,
        project: &ProjectId,
        about: UserClaims,
        (session, client): (&Session, &ClientName),
        (nonce, access_token): (Option<String>, &str),
        (now, life): (Timestamp, Duration),
    ) -> IdClaims {
        let half = digest(&SHA256, access_token.as_bytes());
        let iat = now.as_second();
        IdClaims {
            iss: issuer(&self.api_url, project),
            sub: session.user_id,
            aud: client.clone(),
            azp: client.clone(),
            iat,
            exp: iat.saturating_add_unsigned(life.as_secs()),
            auth_time: auth_time(session),
            nonce,
            acr: acr(&session.amr),
            amr: session.amr.clone(),
            sid: session.id,
            // The digest is SHA-256, because the names of both signature algorithms end with 256
            // (OpenID Connect Core §3.1.3.6).
            at_hash: Some(URL_SAFE_NO_PAD.encode(&half.as_ref()[..16])),
            about,
        }
    }

    /// Signs claims with the project's current ES256 key.
    #[expect(clippy::expect_used, reason = "claims can always be serialized, and a derived key can sign")]
    pub fn sign_claims<C: Serialize>(&self, project: &ProjectId, token_type: TokenType, claims: &C) -> String {
        let key = self.keys.current(&Audience::Normal.name(project));
        let header = Header { typ: Some(token_type.header()), kid: Some(key.id.clone()), ..Header::new(Algorithm::ES256) };
        jsonwebtoken::encode(&header, claims, &key.encoding).expect("a token can be signed")
    }

    /// Signs claims with the RSA key that has this id.
    pub fn sign_claims_with_rsa<C: Serialize>(
        token_type: TokenType,
        claims: &C,
        kid: String,
        key: &RsaPrivateKey,
    ) -> Result<String, NoUsableKey> {
        let header = Header { typ: Some(token_type.header()), kid: Some(kid), ..Header::new(Algorithm::RS256) };
        let key = key.encoding().map_err(|_| NoUsableKey)?;
        jsonwebtoken::encode(&header, claims, &key).map_err(|_| NoUsableKey)
    }

    /// The id of the RSA key in the header of a token, which has not been verified yet. `None` if
    /// the token is not signed with RS256.
    pub fn rsa_key_of(token: &str) -> Option<String> {
        let header = jsonwebtoken::decode_header(token).ok()?;
        header.kid.filter(|_| header.alg == Algorithm::RS256)
    }
}
