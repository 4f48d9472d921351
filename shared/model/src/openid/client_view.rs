//! OAuth clients in responses.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::{OauthClientId, TeamId};

use crate::openid::client::{ClientSecret, ClientType, Eligibility, OauthClient, Origin};
use crate::project::signing_key::TokenAlgorithm;
use crate::session::scope::Scopes;

/// How a client became known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClientSource {
    /// An administrator created it.
    Created,
    /// A document at the client's URL describes it.
    Document,
    /// It registered itself.
    Registration,
}

/// A client in a response.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OauthClient)]
pub struct ClientView {
    /// The id of the client, which is also its OAuth `client_id`.
    id: OauthClientId,
    /// How the client became known: `created` by an administrator, by its `document`, or by its
    /// `registration`.
    source: ClientSource,
    /// The URL of the client's metadata document, which is then its OAuth `client_id`. `null` for
    /// other clients.
    metadata_url: Option<String>,
    /// The name that users see.
    #[schema(example = "Notes")]
    name: String,
    /// Whether the client has a secret.
    client_type: ClientType,
    /// When each valid secret expires, newest first.
    secrets: Vec<SecretView>,
    /// The URL of the logo that users see.
    logo_url: Option<String>,
    /// The URL of a page about the client.
    client_uri: Option<String>,
    /// The URL of the client's privacy policy.
    policy_uri: Option<String>,
    /// The URL of the client's terms of service.
    tos_uri: Option<String>,
    /// Whether the client belongs to the project itself; if so, the client's users need not
    /// consent.
    is_first_party: bool,
    /// Whether the client may omit PKCE if it sends a `nonce`.
    pkce_optional: bool,
    /// Where users may return.
    redirect_uris: Vec<String>,
    /// Where users may go after signing out.
    post_logout_redirect_uris: Vec<String>,
    /// The scopes that the client may request.
    #[schema(value_type = Vec<String>)]
    scopes: Scopes,
    /// The algorithm that signs the client's tokens.
    signing_algorithm: TokenAlgorithm,
    /// How long access tokens are valid, in seconds; `null` for the deployment's default.
    access_token_seconds: Option<u32>,
    /// How long a session of the client lasts, in seconds; `null` for the project's default.
    session_seconds: Option<u32>,
    /// Only members of at least one of these teams may sign in; `null` if users do not have to be
    /// in a team.
    allowed_team_ids: Option<Vec<TeamId>>,
    /// Only users who have this permission in the project may sign in; `null` if users do not need
    /// a permission.
    allowed_permission_id: Option<String>,
    /// Whether the client is disabled.
    is_disabled: bool,
    /// When the client was created, in milliseconds since the Unix epoch.
    created_at_millis: i64,
    /// When the client was last changed, in milliseconds since the Unix epoch.
    updated_at_millis: i64,
}

/// A secret of a client, without its text.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OauthClientSecret)]
pub struct SecretView {
    /// The last four characters.
    last_four: String,
    /// When a replaced secret stops working, in milliseconds since the Unix epoch; `null` for the
    /// current secret.
    expires_at_millis: Option<i64>,
}

impl ClientView {
    /// The client in a response, with the secrets that are valid at this time.
    pub fn of(client: &OauthClient, now: Timestamp) -> Self {
        let (teams, permission) = match client.admitted.clone() {
            Eligibility::Everyone => (None, None),
            Eligibility::MembersOf(ids) => (Some(ids), None),
            Eligibility::HoldersOf(id) => (None, Some(id)),
        };
        let working = client.secrets.iter().filter(|secret| secret.expires_at.is_none_or(|end| now < end));
        let secret = |secret: &ClientSecret| SecretView {
            last_four: secret.last_four.clone(),
            expires_at_millis: secret.expires_at.map(Timestamp::as_millisecond),
        };
        Self {
            id: client.id,
            source: match client.origin {
                None => ClientSource::Created,
                Some(Origin::Document { .. }) => ClientSource::Document,
                Some(Origin::Registration) => ClientSource::Registration,
            },
            metadata_url: match &client.origin {
                Some(Origin::Document { url, .. }) => Some(url.as_str().to_owned()),
                Some(Origin::Registration) | None => None,
            },
            name: client.name.clone(),
            client_type: client.client_type,
            secrets: working.map(secret).collect(),
            logo_url: client.logo_url.clone(),
            client_uri: client.client_uri.clone(),
            policy_uri: client.policy_uri.clone(),
            tos_uri: client.tos_uri.clone(),
            is_first_party: client.is_first_party,
            pkce_optional: client.pkce_optional,
            redirect_uris: client.redirect_uris.clone(),
            post_logout_redirect_uris: client.post_logout_redirect_uris.clone(),
            scopes: client.scopes.clone(),
            signing_algorithm: client.signing_algorithm,
            access_token_seconds: client.access_token_seconds,
            session_seconds: client.session_seconds,
            allowed_team_ids: teams,
            allowed_permission_id: permission,
            is_disabled: client.is_disabled,
            created_at_millis: client.created_at.as_millisecond(),
            updated_at_millis: client.updated_at.as_millisecond(),
        }
    }
}
