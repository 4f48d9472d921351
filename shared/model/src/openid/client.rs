//! OAuth clients: the applications that a project's users can sign in to.

use crypto::digest::Digest;
use deserr::Deserr;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use subtle::{Choice, ConstantTimeEq as _};
use utoipa::ToSchema;
use wire::clock::after;
use wire::entropy::Entropy;
use wire::id::{OauthClientId, TeamId};

use crate::openid::redirect_uri;
use crate::project::oauth_clients::ClientSettings;
use crate::project::signing_key::TokenAlgorithm;
use crate::session::client_name::{ClientName, DocumentUrl};
use crate::session::scope::Scopes;

/// The maximum number of clients of a project.
pub const MAX_CLIENTS: usize = 1000;
/// The maximum time for which a client's old secret stays valid along with the new one: a week.
pub const MAX_SECRET_OVERLAP: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The prefix of a secret, by which scanners of source code recognize secrets.
const SECRET_PREFIX: &str = "ocs_";

/// Whether a client can keep a secret (RFC 6749 §2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Deserr, ToSchema)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum ClientType {
    /// An app that runs on the user's device or in a browser, without a secret.
    Public,
    /// An app with a backend, which authenticates with its secret in the header or in the body.
    Confidential,
}

/// Who may sign in to a client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Eligibility {
    /// Every user of the project.
    #[default]
    Everyone,
    /// Members of at least one of these teams.
    MembersOf(Vec<TeamId>),
    /// Users who have this permission in the project.
    HoldersOf(String),
}

impl Eligibility {
    fn is_everyone(&self) -> bool {
        *self == Self::Everyone
    }
}

/// How a client that describes itself became known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Origin {
    /// By its metadata document.
    Document {
        /// The URL of the document.
        url: DocumentUrl,
        /// Until when the document may be used without fetching it again.
        fresh_until: Timestamp,
    },
    /// By a registration.
    Registration,
}

/// A client.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OauthClient {
    /// The id, which is also the `client_id` of OAuth.
    pub id: OauthClientId,
    /// The name that users see.
    pub name: String,
    /// The URL of the logo that users see.
    pub logo_url: Option<String>,
    /// The URL of a page about the client.
    pub client_uri: Option<String>,
    /// The URL of the client's privacy policy.
    pub policy_uri: Option<String>,
    /// The URL of the client's terms of service.
    pub tos_uri: Option<String>,
    /// Whether the client can keep a secret.
    pub client_type: ClientType,
    /// Whether the client belongs to the project itself; if so, the client's users need not
    /// consent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_first_party: bool,
    /// Whether the client may omit PKCE if it sends a `nonce`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pkce_optional: bool,
    /// Where users may return.
    pub redirect_uris: Vec<String>,
    /// Where users may go after signing out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub post_logout_redirect_uris: Vec<String>,
    /// The scopes that the client may request.
    pub scopes: Scopes,
    /// The algorithm that signs the client's ID tokens and access tokens.
    #[serde(default, skip_serializing_if = "TokenAlgorithm::is_default")]
    pub signing_algorithm: TokenAlgorithm,
    /// How long access tokens are valid, in seconds; absent for the deployment's default.
    pub access_token_seconds: Option<u32>,
    /// How long a session of the client lasts, in seconds; absent for the project's default.
    pub session_seconds: Option<u32>,
    /// Who may sign in.
    #[serde(default, skip_serializing_if = "Eligibility::is_everyone")]
    pub admitted: Eligibility,
    /// The secrets, newest first; empty for a public client.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<ClientSecret>,
    /// Whether the client is disabled: nobody can sign in to it, and its tokens are invalid.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_disabled: bool,
    /// How the client became known, if it describes itself; absent for a client that an
    /// administrator has created.
    pub origin: Option<Origin>,
    /// When the client is deleted if nobody has signed in to it until then; absent for a client
    /// that stays.
    pub expires_at: Option<Timestamp>,
    /// When the client was created.
    pub created_at: Timestamp,
    /// When the client was last changed.
    pub updated_at: Timestamp,
}

/// A secret of a client.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientSecret {
    /// The digest of the secret.
    pub digest: Digest,
    /// The last four characters, which help people recognize the secret.
    pub last_four: String,
    /// When a replaced secret stops working; absent for the current secret.
    pub expires_at: Option<Timestamp>,
}

impl ClientSecret {
    /// A new secret and its text.
    pub fn draw(entropy: &Entropy) -> (Self, SecretString) {
        let text = format!("{SECRET_PREFIX}{}", entropy.code().expose_secret());
        let last_four = text[text.len() - 4..].to_owned();
        (Self { digest: Digest::of(&text), last_four, expires_at: None }, text.into())
    }
}

impl OauthClient {
    /// Whether `secret` is one of the client's valid secrets. The duration does not depend on which
    /// secret matches, or on how many characters of `secret` are right.
    pub fn has_secret(&self, secret: &SecretString, now: Timestamp) -> bool {
        let digest = Digest::of(secret.expose_secret());
        let found = self.secrets.iter().fold(Choice::from(0), |found, known| {
            let is_valid = known.expires_at.is_none_or(|end| now < end);
            found | (digest.as_str().as_bytes().ct_eq(known.digest.as_str().as_bytes()) & Choice::from(u8::from(is_valid)))
        });
        found.into()
    }

    /// Replaces the secret. The current secret remains valid for `overlap`; earlier secrets become
    /// invalid immediately.
    pub fn rotate(&mut self, secret: ClientSecret, overlap: SignedDuration, now: Timestamp) {
        let end = after(now, overlap);
        let kept = self.secrets.drain(..).find(|old| old.expires_at.is_none()).map(|old| ClientSecret { expires_at: Some(end), ..old });
        self.secrets = [Some(secret), kept.filter(|_| end > now)].into_iter().flatten().collect();
        self.updated_at = now;
    }

    /// Whether the client may send users back to this URI.
    pub fn may_return_to(&self, uri: &str) -> bool {
        self.redirect_uris.iter().any(|registered| redirect_uri::matches(registered, uri))
    }

    /// Whether the client may send users to this URI after signing them out.
    pub fn may_leave_to(&self, uri: &str) -> bool {
        self.post_logout_redirect_uris.iter().any(|registered| redirect_uri::matches(registered, uri))
    }

    /// The client's name in requests and tokens.
    pub fn name(&self) -> ClientName {
        match &self.origin {
            Some(Origin::Document { url, .. }) => ClientName::Document(url.clone()),
            Some(Origin::Registration) | None => ClientName::Id(self.id),
        }
    }

    /// Whether users can sign in to the client, and its tokens are valid: an administrator has not
    /// disabled it, and the project permits such clients.
    pub fn is_permitted(&self, settings: &ClientSettings) -> bool {
        !self.is_disabled
            && match &self.origin {
                Some(Origin::Document { url, .. }) => settings.permit_document(&url.domain()),
                // A client that has registered stays when the project ends registration.
                Some(Origin::Registration) | None => true,
            }
    }

    /// Whether the client has to authenticate with a secret.
    pub fn is_confidential(&self) -> bool {
        self.client_type == ClientType::Confidential
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use uuid::Uuid;

    /// A web app that does not belong to the project.
    pub(crate) fn client() -> OauthClient {
        OauthClient {
            id: OauthClientId::from(Uuid::from_u128(7)),
            name: "Notes".to_owned(),
            logo_url: None,
            client_uri: None,
            policy_uri: None,
            tos_uri: None,
            client_type: ClientType::Confidential,
            is_first_party: false,
            pkce_optional: false,
            redirect_uris: vec!["https://notes.example.com/cb".to_owned()],
            post_logout_redirect_uris: Vec::new(),
            scopes: Scopes::standard(),
            signing_algorithm: TokenAlgorithm::Es256,
            access_token_seconds: None,
            session_seconds: None,
            admitted: Eligibility::Everyone,
            secrets: Vec::new(),
            is_disabled: false,
            origin: None,
            expires_at: None,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_replaced_secret_works_for_the_overlap_and_never_a_third_one() {
        let (now, entropy) = (Timestamp::UNIX_EPOCH, Entropy::system());
        let [(first, one), (second, two), (third, three)] = std::array::from_fn(|_| ClientSecret::draw(&entropy));
        let mut client = OauthClient { secrets: vec![first], ..client() };
        assert!(client.has_secret(&one, now) && !client.has_secret(&two, now));
        client.rotate(second, SignedDuration::from_hours(1), now);
        let end = after(now, SignedDuration::from_hours(1));
        assert!(client.has_secret(&one, now) && client.has_secret(&two, now));
        assert!(!client.has_secret(&one, end) && client.has_secret(&two, end));
        client.rotate(third, SignedDuration::from_hours(1), now);
        assert!(!client.has_secret(&one, now), "only one old secret is kept");
        assert!(client.has_secret(&two, now) && client.has_secret(&three, now));
        client.rotate(ClientSecret::draw(&entropy).0, SignedDuration::ZERO, now);
        assert_eq!(client.secrets.len(), 1);
    }
}
