//! OAuth clients in requests and responses.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::RangeInclusive;

use deserr::Deserr;
use jiff::Timestamp;
use utoipa::ToSchema;
use wire::change::Change;
use wire::id::{OauthClientId, TeamId};
use wire::problem::Problems;

use crate::openid::client::{ClientSecret, ClientType, Eligibility, OauthClient};
use crate::openid::redirect_uri;
use crate::permission::definition::PermissionId;
use crate::project::signing_key::TokenAlgorithm;
use crate::session::scope::Scopes;
use crate::setting::check_url;
use crate::text::line;

/// Permitted lengths of a name, in characters.
pub(super) const NAME: RangeInclusive<usize> = 1..=100;
/// The maximum number of redirect URIs, and of URIs to return to after signing out.
pub(super) const MAX_URIS: usize = 50;
/// The maximum number of teams whose members may sign in.
const MAX_TEAMS: usize = 20;
/// The permitted lifetimes of access tokens, in seconds.
pub(super) const ACCESS_TOKEN_SECONDS: RangeInclusive<u32> = 60..=86_400;
/// The permitted lifetimes of sessions, in seconds: up to 367 days.
const SESSION_SECONDS: RangeInclusive<u32> = 300..=367 * 86_400;

/// The body that creates or changes a client; in a change, absent fields keep their values.
#[wire::optional]
#[derive(Debug, Clone, Default, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ClientInput {
    /// One line of 1 to 100 characters, shown to users. Required for a new client.
    pub name: Option<String>,
    /// Whether the client has a backend that can keep a secret. Required for a new client; cannot
    /// be changed.
    pub client_type: Option<ClientType>,
    /// An https URL, shown to users.
    pub logo_url: Change<String>,
    /// An https URL of a page about the client.
    pub client_uri: Change<String>,
    /// An https URL of the client's privacy policy.
    pub policy_uri: Change<String>,
    /// An https URL of the client's terms of service.
    pub tos_uri: Change<String>,
    /// Whether the client belongs to the project itself. The users of such a client need not
    /// consent, and the API accepts the client's access tokens. Default: `false`.
    pub is_first_party: Option<bool>,
    /// Whether a confidential client may omit PKCE if it sends a `nonce`. Without PKCE, anyone who
    /// steals a code can have the client redeem the code. Default: `false`.
    pub pkce_optional: Option<bool>,
    /// Where users may return: at most 50 https URLs, http URLs of localhost, or URIs with a
    /// private scheme such as `com.example.app:/callback`. The URIs are compared character by
    /// character, except for the port of localhost.
    pub redirect_uris: Option<Vec<String>>,
    /// Where users may go after signing out; the same rules apply as for `redirect_uris`.
    pub post_logout_redirect_uris: Option<Vec<String>>,
    /// The scopes that the client may request. Default: all scopes of the project.
    pub scopes: Option<Scopes>,
    /// The algorithm that signs the client's tokens. `RS256` requires an RSA key of the project.
    /// Default: `ES256`.
    pub signing_algorithm: Option<TokenAlgorithm>,
    /// How long access tokens are valid: 60 to 86,400 seconds. `null` for the deployment's default.
    pub access_token_seconds: Change<u32>,
    /// How long a session of the client lasts: 300 to 31,708,800 seconds (367 days). `null` for the
    /// project's default.
    pub session_seconds: Change<u32>,
    /// Only members of at least one of these teams may sign in. At most 20 teams; `null` for every
    /// user.
    pub allowed_team_ids: Change<Vec<TeamId>>,
    /// Only users who have this permission in the project may sign in. `null` for every user.
    pub allowed_permission_id: Change<PermissionId>,
    /// Whether the client is disabled: nobody can sign in to it, and its tokens are invalid.
    /// Default: `false`.
    pub is_disabled: Option<bool>,
}

/// A problem with a field of the body.
fn problem(field: &str, message: impl Display) -> Problems {
    Problems::one(&format!("body.{field}"), message)
}

fn uris(field: &str, given: Option<Vec<String>>, uris: &mut Vec<String>) -> Result<(), Problems> {
    let Some(given) = given else { return Ok(()) };
    if given.len() > MAX_URIS {
        return Err(problem(field, format!("must have at most {MAX_URIS} elements")));
    }
    for (number, uri) in given.iter().enumerate() {
        redirect_uri::check(uri).map_err(|error| problem(&format!("{field}[{number}]"), error))?;
    }
    let mut seen = BTreeSet::new();
    *uris = given.into_iter().filter(|uri| seen.insert(uri.clone())).collect();
    Ok(())
}

fn url(field: &str, given: Change<String>, url: &mut Option<String>) -> Result<(), Problems> {
    if let Change::Set(text) = &given {
        check_url(field, text).map_err(|_| problem(field, "must be an https URL of at most 2048 bytes"))?;
        if !text.starts_with("https://") {
            return Err(problem(field, "must be an https URL of at most 2048 bytes"));
        }
    }
    given.apply(url);
    Ok(())
}

pub(super) fn seconds(field: &str, given: Change<u32>, range: &RangeInclusive<u32>, seconds: &mut Option<u32>) -> Result<(), Problems> {
    if let Change::Set(value) = &given
        && !range.contains(value)
    {
        return Err(problem(field, format!("must be from {} to {}", range.start(), range.end())));
    }
    given.apply(seconds);
    Ok(())
}

impl ClientInput {
    /// Whether the request asks for RS256 as the algorithm of the client's tokens.
    pub fn asks_for_rsa(&self) -> bool {
        self.signing_algorithm == Some(TokenAlgorithm::Rs256)
    }

    /// The first field that a client determines if it describes itself.
    fn described(&self) -> Option<&'static str> {
        let fields = [
            ("name", self.name.is_some()),
            ("client_uri", self.client_uri != Change::Keep),
            ("policy_uri", self.policy_uri != Change::Keep),
            ("tos_uri", self.tos_uri != Change::Keep),
            ("pkce_optional", self.pkce_optional == Some(true)),
            ("redirect_uris", self.redirect_uris.is_some()),
            ("post_logout_redirect_uris", self.post_logout_redirect_uris.is_some()),
        ];
        fields.into_iter().find(|(_, is_given)| *is_given).map(|(field, _)| field)
    }

    /// The new client with this id. A confidential client gets `secret`.
    pub fn into_client(self, id: OauthClientId, secret: ClientSecret, now: Timestamp) -> Result<OauthClient, Problems> {
        let name = self.name.clone().ok_or_else(|| problem("name", "is required"))?;
        let client_type = self.client_type.ok_or_else(|| problem("client_type", "is required"))?;
        let client = OauthClient {
            id,
            name,
            logo_url: None,
            client_uri: None,
            policy_uri: None,
            tos_uri: None,
            client_type,
            is_first_party: false,
            pkce_optional: false,
            redirect_uris: Vec::new(),
            post_logout_redirect_uris: Vec::new(),
            scopes: Scopes::standard(),
            signing_algorithm: TokenAlgorithm::default(),
            access_token_seconds: None,
            session_seconds: None,
            admitted: Eligibility::Everyone,
            secrets: if client_type == ClientType::Confidential { vec![secret] } else { Vec::new() },
            is_disabled: false,
            origin: None,
            expires_at: None,
            created_at: now,
            updated_at: now,
        };
        Self { client_type: None, ..self }.apply(client, now)
    }

    /// The client with the change applied.
    pub fn apply(self, mut client: OauthClient, now: Timestamp) -> Result<OauthClient, Problems> {
        if self.client_type.is_some_and(|wanted| wanted != client.client_type) {
            return Err(problem("client_type", "cannot be changed: create another client"));
        }
        if let Some(field) = self.described().filter(|_| client.origin.is_some()) {
            return Err(problem(field, "must be absent, because the client describes itself"));
        }
        client.expires_at = None;
        if let Some(name) = self.name {
            line::check(&name, NAME).map_err(|error| problem("name", error))?;
            client.name = name;
        }
        url("logo_url", self.logo_url, &mut client.logo_url)?;
        url("client_uri", self.client_uri, &mut client.client_uri)?;
        url("policy_uri", self.policy_uri, &mut client.policy_uri)?;
        url("tos_uri", self.tos_uri, &mut client.tos_uri)?;
        uris("redirect_uris", self.redirect_uris, &mut client.redirect_uris)?;
        uris("post_logout_redirect_uris", self.post_logout_redirect_uris, &mut client.post_logout_redirect_uris)?;
        client.is_first_party = self.is_first_party.unwrap_or(client.is_first_party);
        client.pkce_optional = self.pkce_optional.unwrap_or(client.pkce_optional);
        if client.pkce_optional && !client.is_confidential() {
            return Err(problem("pkce_optional", "must be false for a public client, because only PKCE protects its codes"));
        }
        if let Some(scopes) = self.scopes {
            let unknown = scopes.names().find(|name| !Scopes::standard().has_name(name));
            if let Some(unknown) = unknown {
                return Err(problem("scopes", format!("must not contain {unknown}: projects support the scopes {}", Scopes::standard())));
            }
            client.scopes = scopes;
        }
        client.signing_algorithm = self.signing_algorithm.unwrap_or(client.signing_algorithm);
        seconds("access_token_seconds", self.access_token_seconds, &ACCESS_TOKEN_SECONDS, &mut client.access_token_seconds)?;
        seconds("session_seconds", self.session_seconds, &SESSION_SECONDS, &mut client.session_seconds)?;
        client.admitted = admitted(self.allowed_team_ids, self.allowed_permission_id, client.admitted)?;
        client.is_disabled = self.is_disabled.unwrap_or(client.is_disabled);
        client.updated_at = now;
        Ok(client)
    }
}

/// Who may sign in after a change.
fn admitted(teams: Change<Vec<TeamId>>, permission: Change<PermissionId>, current: Eligibility) -> Result<Eligibility, Problems> {
    if let Change::Set(ids) = &teams
        && (ids.is_empty() || ids.len() > MAX_TEAMS)
    {
        return Err(problem("allowed_team_ids", format!("must have 1 to {MAX_TEAMS} elements, or be null")));
    }
    Ok(match (teams, permission, current) {
        (Change::Set(_), Change::Set(_), _) => {
            return Err(problem("allowed_permission_id", "must be absent or null, because allowed_team_ids is set"));
        }
        (Change::Set(ids), _, _) => Eligibility::MembersOf(ids.into_iter().collect::<BTreeSet<_>>().into_iter().collect()),
        (_, Change::Set(id), _) => Eligibility::HoldersOf(id.to_string()),
        (Change::Clear, _, Eligibility::MembersOf(_)) | (_, Change::Clear, Eligibility::HoldersOf(_)) => Eligibility::Everyone,
        (_, _, current) => current,
    })
}
