//! The metadata that a project publishes as an issuer of tokens (RFC 8414 §2, OpenID Connect
//! Discovery 1.0 §3).

use serde::Serialize;
use strum::VariantNames as _;
use utoipa::ToSchema;

use crate::openid::request::{Prompt, ResponseMode};
use crate::project::Project;
use crate::project::signing_key::{RsaKeys, TokenAlgorithm};
use crate::session::client::{ACR_MFA, ACR_SINGLE};
use crate::session::scope::Scope;
use crate::session::token::client::{issuer, userinfo_endpoint};

/// The languages of the hosted pages.
const LANGUAGES: [&str; 2] = ["en", "de"];

/// The claims in ID tokens and from the userinfo endpoint.
const CLAIMS: [&str; 19] = [
    "iss",
    "sub",
    "aud",
    "azp",
    "exp",
    "iat",
    "auth_time",
    "nonce",
    "acr",
    "amr",
    "sid",
    "at_hash",
    "name",
    "picture",
    "signed_up_at",
    "email",
    "email_verified",
    "teams",
    "permissions",
];

/// The metadata of a project, which tells standard software where to find the project's keys and
/// endpoints.
///
/// Authorizers of API gateways need only `issuer` and `jwks_uri`.
#[wire::sparse]
#[derive(Debug, Serialize, ToSchema)]
pub struct IssuerMetadata {
    /// The `iss` of access tokens for users without restrictions.
    #[schema(example = "https://auth.example.com/api/v1/projects/6fbbf22e-f4b2-4c6e-95a1-beab6fa41063")]
    pub issuer: String,
    /// The URL of the public keys that verify the project's tokens (RFC 7517).
    pub jwks_uri: String,
    /// The URL to which clients send users to sign in (RFC 6749 §3.1). Absent for the project
    /// `internal`, whose users sign in to the console.
    pub authorization_endpoint: Option<String>,
    /// The URL from which clients get tokens (RFC 6749 §3.2).
    pub token_endpoint: String,
    /// The URL from which clients get claims about a user (OpenID Connect Core §5.3).
    pub userinfo_endpoint: String,
    /// The URL to which clients push authorization requests before sending the user (RFC 9126 §5).
    pub pushed_authorization_request_endpoint: String,
    /// The URL at which clients check whether a token is valid (RFC 7662).
    pub introspection_endpoint: String,
    /// The URL at which clients end the session of a token (RFC 7009).
    pub revocation_endpoint: String,
    /// The URL to which clients send users to sign out (RP-Initiated Logout 1.0). Absent for the
    /// project `internal`.
    pub end_session_endpoint: Option<String>,
    /// The URL at which devices start a sign-in with the project as the client (RFC 8628 §3.1).
    pub device_authorization_endpoint: String,
    /// The scopes that every project supports.
    #[schema(value_type = Vec<Scope>)]
    pub scopes_supported: Vec<&'static str>,
    /// The claims about users and tokens.
    pub claims_supported: [&'static str; 19],
    /// Only authorization codes.
    pub response_types_supported: [&'static str; 1],
    /// How clients receive the response.
    #[schema(value_type = Vec<String>)]
    pub response_modes_supported: &'static [&'static str],
    /// The grants that the token endpoint supports. The last two grants require the project as the
    /// client.
    pub grant_types_supported: [&'static str; 4],
    /// How clients authenticate at the token endpoint.
    pub token_endpoint_auth_methods_supported: [&'static str; 3],
    /// PKCE (RFC 7636 §4.3).
    pub code_challenge_methods_supported: [&'static str; 1],
    /// A user has the same `sub` in the tokens of all clients.
    pub subject_types_supported: [&'static str; 1],
    /// The algorithms that can sign tokens; RS256 is included if the project has an RSA key.
    pub id_token_signing_alg_values_supported: Vec<&'static str>,
    /// One factor, or two.
    pub acr_values_supported: [&'static str; 2],
    /// The supported values of `prompt`, with which clients control what the pages ask the user.
    #[schema(value_type = Vec<String>)]
    pub prompt_values_supported: &'static [&'static str],
    /// The languages of the pages (BCP 47).
    pub ui_locales_supported: [&'static str; 2],
    /// Whether the URL of a metadata document can be the id of a client.
    pub client_id_metadata_document_supported: bool,
    /// The URL at which clients register themselves (RFC 7591). Absent unless the project permits
    /// this.
    pub registration_endpoint: Option<String>,
    /// Every authorization response contains `iss` (RFC 9207 §3).
    pub authorization_response_iss_parameter_supported: bool,
    /// The parameter `claims` is ignored.
    pub claims_parameter_supported: bool,
    /// The parameter `request` is refused.
    pub request_parameter_supported: bool,
    /// A `request_uri` is refused unless it belongs to a pushed request.
    pub request_uri_parameter_supported: bool,
}

impl IssuerMetadata {
    /// The metadata of a project in the deployment at this URL.
    pub fn new(api_url: &str, project: &Project, keys: &RsaKeys) -> Self {
        let issuer = issuer(api_url, &project.id);
        let clients = &project.config.oauth_clients;
        let registration_endpoint = clients.registration_enabled.then(|| format!("{issuer}/oauth2/register"));
        let rsa = (!keys.stored().is_empty()).then_some(TokenAlgorithm::Rs256);
        Self {
            jwks_uri: format!("{issuer}/.well-known/jwks.json"),
            authorization_endpoint: (!project.id.is_internal()).then(|| format!("{issuer}/oauth2/authorize")),
            token_endpoint: format!("{issuer}/oauth2/token"),
            userinfo_endpoint: userinfo_endpoint(&issuer),
            pushed_authorization_request_endpoint: format!("{issuer}/oauth2/par"),
            introspection_endpoint: format!("{issuer}/oauth2/introspect"),
            revocation_endpoint: format!("{issuer}/oauth2/revoke"),
            end_session_endpoint: (!project.id.is_internal()).then(|| format!("{issuer}/oauth2/end-session")),
            device_authorization_endpoint: format!("{api_url}/api/v1/auth/oauth/device_authorization"),
            issuer,
            scopes_supported: Scope::ALL.iter().map(|scope| scope.name()).collect(),
            claims_supported: CLAIMS,
            response_types_supported: ["code"],
            response_modes_supported: ResponseMode::VARIANTS,
            grant_types_supported: [
                "authorization_code",
                "refresh_token",
                "client_credentials",
                "urn:ietf:params:oauth:grant-type:device_code",
            ],
            token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
            code_challenge_methods_supported: ["S256"],
            subject_types_supported: ["public"],
            id_token_signing_alg_values_supported: [TokenAlgorithm::Es256].into_iter().chain(rsa).map(TokenAlgorithm::name).collect(),
            acr_values_supported: [ACR_MFA, ACR_SINGLE],
            prompt_values_supported: Prompt::VARIANTS,
            ui_locales_supported: LANGUAGES,
            client_id_metadata_document_supported: clients.documents_enabled,
            registration_endpoint,
            authorization_response_iss_parameter_supported: true,
            claims_parameter_supported: false,
            request_parameter_supported: false,
            request_uri_parameter_supported: false,
        }
    }
}
