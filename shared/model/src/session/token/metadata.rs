//! What a project publishes as an issuer of tokens (RFC 8414 §2, OpenID Connect Discovery 1.0 §3).

use serde::Serialize;
use utoipa::ToSchema;

use super::Audience;
use crate::project::Project;

/// The metadata of a project, which tells standard software where to find its keys and endpoints.
///
/// There is no `authorization_endpoint`, as users sign in through the SDKs. Authorizers of API
/// gateways need only `issuer` and `jwks_uri`.
#[derive(Debug, Serialize, ToSchema)]
pub struct IssuerMetadata {
    /// The `iss` of access tokens of users without restrictions.
    #[schema(example = "https://auth.example.com/api/v1/projects/6fbbf22e-f4b2-4c6e-95a1-beab6fa41063")]
    pub issuer: String,
    /// Where the public keys of these tokens are (RFC 7517).
    pub jwks_uri: String,
    /// Where backends and devices get tokens (RFC 6749 §3.2).
    pub token_endpoint: String,
    /// Where devices start a sign-in (RFC 8628 §3.1).
    pub device_authorization_endpoint: String,
    /// The grants of the token endpoint that standard clients can use.
    pub grant_types_supported: [&'static str; 3],
    /// How clients authenticate at the token endpoint.
    pub token_endpoint_auth_methods_supported: [&'static str; 3],
    /// None, as there is no authorization endpoint.
    pub response_types_supported: [&'static str; 0],
    /// A user has the same `sub` for all clients.
    pub subject_types_supported: [&'static str; 1],
    /// The algorithm of new tokens. Tokens with the other algorithm, from before a change, remain
    /// valid; the key set has the keys of both.
    pub id_token_signing_alg_values_supported: [&'static str; 1],
}

impl IssuerMetadata {
    /// The metadata of one of the projects in the deployment at this URL.
    pub fn new(api_url: &str, project: &Project) -> Self {
        let issuer = Audience::Normal.issuer(api_url, &project.id);
        Self {
            jwks_uri: format!("{issuer}/.well-known/jwks.json"),
            issuer,
            token_endpoint: format!("{api_url}/api/v1/auth/oauth/token"),
            device_authorization_endpoint: format!("{api_url}/api/v1/auth/oauth/device_authorization"),
            grant_types_supported: ["refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code"],
            token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
            response_types_supported: [],
            subject_types_supported: ["public"],
            id_token_signing_alg_values_supported: [project.access_token_algorithm.name()],
        }
    }
}
