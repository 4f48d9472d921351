//! What the catalog says about a provider.

use crate::provider::catalog::scopes::Scopes;
use crate::provider::profile::{Addresses, Fields};

/// A provider of the catalog. Whatever differs from the standards has its reason in
/// [`notes`](Self::notes), from which `docs/api/providers.md` is rendered.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    /// The id, which app developers write in SDK calls.
    pub id: &'static str,
    /// The page of the provider's documentation that describes the flow.
    pub docs: &'static str,
    /// Reasons, as Markdown: one sentence or more for whatever differs from the standards.
    pub notes: &'static str,
    /// Where users are redirected to authorize.
    pub authorization_endpoint: &'static str,
    /// Where authorization codes are exchanged for tokens.
    pub token_endpoint: &'static str,
    /// The scopes of every flow: for reading the account and, if the provider reports one, its
    /// email address.
    pub scope: &'static str,
    /// What a plain sign-in adds to the request.
    pub sign_in: Parameters,
    /// What a flow adds that links an account or asks for further scopes: the app will call the
    /// provider's API, also later, so it needs a refresh token.
    pub offline: Offline,
    /// Whether the provider accepts PKCE (RFC 7636) from a client that has a secret.
    pub takes_pkce: bool,
    /// How the client authenticates at the token endpoint.
    pub client_auth: ClientAuth,
    /// Whether token requests repeat the scopes.
    pub wants_scope: bool,
    /// How its scopes relate.
    pub scopes: Scopes,
    /// The source of the account's data.
    pub identity: Identity,
    /// How the provider is asked whether it still accepts an access token.
    pub token_check: TokenCheck,
}

/// Parameters of the authorization endpoint beyond those of RFC 6749.
pub type Parameters = &'static [(&'static str, &'static str)];

/// What asks for a refresh token.
#[derive(Debug, Clone, Copy)]
pub struct Offline {
    /// Scopes; often none.
    pub scope: &'static str,
    /// Parameters.
    pub parameters: Parameters,
}

impl Offline {
    /// Nothing: the provider issues refresh tokens unasked, or none at all.
    pub const UNASKED: Self = Self { scope: "", parameters: &[] };
}

/// How a client authenticates at the token endpoint (RFC 6749 §2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAuth {
    /// The id and the secret are sent with HTTP basic authentication.
    Basic,
    /// The id and the secret are sent in the body.
    Body,
}

/// The source of an account's data.
#[derive(Debug, Clone, Copy)]
pub enum Identity {
    /// An OpenID Connect ID token.
    IdToken {
        /// The issuer: the `iss` claim of the provider's tokens.
        issuer: &'static str,
        /// The URL of the provider's keys.
        jwks_uri: &'static str,
    },
    /// The provider's own API, called with the access token.
    Api(Api),
}

/// How to read an account from a provider's API.
#[derive(Debug, Clone, Copy)]
pub struct Api {
    /// The URL that returns the account.
    pub url: &'static str,
    /// The header in which the API expects the client id, if the API requires it.
    pub client_id_header: Option<&'static str>,
    /// The parameter in which the API expects a proof that the caller knows the client secret: the
    /// HMAC-SHA256 of the access token in hexadecimal digits.
    pub secret_proof: Option<&'static str>,
    /// Where the response contains the fields.
    pub fields: Fields,
    /// The URL that returns the email addresses, and where its response contains them, if the
    /// account does not include them. The addresses may be refused (403 or 404): the account then
    /// has none.
    pub addresses: Option<(&'static str, Addresses)>,
}

impl Api {
    /// An API that needs nothing but the access token, and returns everything at once.
    pub(super) const fn new(url: &'static str, fields: Fields) -> Self {
        Self { url, client_id_header: None, secret_proof: None, fields, addresses: None }
    }
}

/// How a provider is asked whether it still accepts an access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenCheck {
    /// The provider has no way to ask.
    None,
    /// The API that returns the account answers 401 if it does not.
    Account,
    /// The API that returns the account answers 400 with this number at `/error/code`.
    AccountError(i64),
    /// This endpoint, to which the token is posted as `access_token`, answers with the error
    /// `invalid_token` if it does not.
    TokenInfo(&'static str),
}

/// Placeholder for a Microsoft tenant in an endpoint.
pub const TENANT: &str = "{tenant}";
