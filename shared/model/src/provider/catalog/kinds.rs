//! The data that the catalog contains about a provider.

use crate::provider::catalog::scopes::Scopes;
use crate::provider::profile::{Addresses, Fields};

/// A provider in the catalog. [`notes`](Self::notes) gives the reason for each deviation from the
/// standards. `docs/api/providers.md` is rendered from these notes.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    /// The id, used by app developers in SDK calls.
    pub id: &'static str,
    /// The page of the provider's documentation that describes the flow.
    pub docs: &'static str,
    /// The reasons for deviations from the standards, as Markdown: at least one sentence for each
    /// deviation.
    pub notes: &'static str,
    /// The URL to which users are redirected to authorize.
    pub authorization_endpoint: &'static str,
    /// The URL at which authorization codes are exchanged for tokens.
    pub token_endpoint: &'static str,
    /// The scopes that every flow requests, for reading the account and its email address, if the
    /// provider reports an address.
    pub scope: &'static str,
    /// Parameters that a plain sign-in adds to the request.
    pub sign_in: Parameters,
    /// Scopes and parameters that a flow adds to link an account or to request additional scopes.
    /// In such a flow, the app needs a refresh token, because it will call the provider's API,
    /// possibly much later.
    pub offline: OfflineAccess,
    /// Whether the provider accepts PKCE (RFC 7636) from a client that has a secret.
    pub takes_pkce: bool,
    /// How the client authenticates at the token endpoint.
    pub client_auth: ClientAuth,
    /// Whether token requests must repeat the scopes.
    pub wants_scope: bool,
    /// The relations between the provider's scopes.
    pub scopes: Scopes,
    /// The source of the account's data.
    pub identity: Identity,
    /// How to ask the provider whether it still accepts an access token.
    pub token_check: TokenCheck,
}

/// Parameters of the authorization endpoint that are not in RFC 6749.
pub type Parameters = &'static [(&'static str, &'static str)];

/// The scopes and parameters needed to get a refresh token.
#[derive(Debug, Clone, Copy)]
pub struct OfflineAccess {
    /// Scopes; often none.
    pub scope: &'static str,
    /// Parameters.
    pub parameters: Parameters,
}

impl OfflineAccess {
    /// Nothing needs to be added, because the provider issues refresh tokens without being asked,
    /// or never.
    pub const UNASKED: Self = Self { scope: "", parameters: &[] };
}

/// How a client authenticates at the token endpoint (RFC 6749 §2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAuth {
    /// The id and the secret are sent with HTTP basic authentication.
    Basic,
    /// The id and the secret are sent in the request body.
    Body,
}

/// The source of an account's data.
#[derive(Debug, Clone, Copy)]
pub enum Identity {
    /// An OpenID Connect ID token.
    IdToken {
        /// The issuer: the `iss` claim of the provider's tokens.
        issuer: &'static str,
        /// The URL of the keys that verify the provider's tokens.
        jwks_uri: &'static str,
    },
    /// The API of the provider, called with the access token.
    Api(Api),
}

/// How to read an account from a provider's API.
#[derive(Debug, Clone, Copy)]
pub struct Api {
    /// The URL that returns the account.
    pub url: &'static str,
    /// The header for the client id, if the API requires it.
    pub client_id_header: Option<&'static str>,
    /// The parameter for a proof that the caller knows the client secret, if the API expects such a
    /// proof. The proof is the HMAC-SHA256 of the access token in hexadecimal digits.
    pub secret_proof: Option<&'static str>,
    /// Where to find the fields in the response.
    pub fields: Fields,
    /// The URL that returns the email addresses, and where to find the addresses in the response.
    /// `None` if the account itself contains the address. If the API responds with 403 or 404, the
    /// account is treated as having no address.
    pub addresses: Option<(&'static str, Addresses)>,
}

impl Api {
    /// An API that needs only the access token and returns all fields in a single response.
    pub(super) const fn new(url: &'static str, fields: Fields) -> Self {
        Self { url, client_id_header: None, secret_proof: None, fields, addresses: None }
    }
}

/// How to ask a provider whether it still accepts an access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenCheck {
    /// The provider does not offer a way to check a token.
    None,
    /// The API that returns the account responds with 401 to a refused token.
    Account,
    /// The API that returns the account responds to a refused token with 400, and with this number
    /// at `/error/code`.
    AccountError(i64),
    /// An endpoint receives the token as the parameter `access_token`, and responds to a refused
    /// token with the error `invalid_token`.
    TokenInfo(&'static str),
}

/// Placeholder for a Microsoft tenant in an endpoint.
pub const TENANT: &str = "{tenant}";
