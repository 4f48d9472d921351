//! Authorization requests (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1), and the responses to
//! them.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantNames};
use url::{Url, form_urlencoded};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::clock::after;
use wire::entropy::Entropy;
use wire::id::{OauthClientId, UserId};

use crate::openid::client::OauthClient;
use crate::openid::redirect_uri;
use crate::session::resource_scopes::ResourceScopes;
use crate::session::scope::Scopes;

/// How long a user may take to decide on a request.
pub const LIFE: SignedDuration = SignedDuration::from_hours(1);
/// How long a pushed request is valid until a user opens it.
pub const PUSHED_LIFE: SignedDuration = SignedDuration::from_secs(90);

/// Why a request is refused (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6, RFC 8707 §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum AuthorizationError {
    /// A parameter is missing, invalid or given twice.
    InvalidRequest,
    /// The client may not use this flow.
    UnauthorizedClient,
    /// The user or the project denied the request.
    AccessDenied,
    /// Only `code` is supported.
    UnsupportedResponseType,
    /// The client may not request this scope.
    InvalidScope,
    /// The project does not have this resource.
    InvalidTarget,
    /// The user has to sign in, but the request does not allow showing a page.
    LoginRequired,
    /// The user has to choose an account, but the request does not allow showing a page.
    AccountSelectionRequired,
    /// The user has to consent, but the request does not allow showing a page.
    ConsentRequired,
    /// The user has to complete another step, but the request does not allow showing a page.
    InteractionRequired,
    /// The parameter `request` is not supported.
    RequestNotSupported,
    /// The `request_uri` is not supported.
    RequestUriNotSupported,
    /// The `request_uri` does not belong to a pushed request of the client, or the pushed request
    /// has already been used.
    InvalidRequestUri,
    /// The parameter `registration` is not supported.
    RegistrationNotSupported,
}

impl AuthorizationError {
    /// The error code, as sent in the parameter `error`.
    pub fn code(self) -> &'static str {
        self.into()
    }
}

/// A refusal, with a description for the client's developers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The error.
    pub error: AuthorizationError,
    /// What is wrong with the request, for the client's developers.
    pub description: Cow<'static, str>,
}

impl Refusal {
    /// A refusal with this error.
    pub fn new(error: AuthorizationError, description: impl Into<Cow<'static, str>>) -> Self {
        Self { error, description: description.into() }
    }

    /// A refusal of a malformed request.
    pub fn invalid(description: impl Into<Cow<'static, str>>) -> Self {
        Self::new(AuthorizationError::InvalidRequest, description)
    }
}

/// What the pages must ask the user, or must not ask (OpenID Connect Core §3.1.2.1, Initiating User
/// Registration).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Prompt {
    /// Nothing may be shown.
    None,
    /// The user has to sign in again.
    Login,
    /// The user has to consent again.
    Consent,
    /// The user has to choose an account.
    SelectAccount,
    /// The sign-up page is shown to the user.
    Create,
}

/// How the client receives the response (OAuth 2.0 Multiple Response Types §2.1, Form Post §2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ResponseMode {
    /// In the query of the redirect URI.
    #[default]
    Query,
    /// As a form that the browser posts to the redirect URI.
    FormPost,
}

/// Where the response to a request is sent, once the client and its redirect URI have been checked.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReturnPath {
    /// The redirect URI.
    pub redirect_uri: String,
    /// The client's `state`, which is returned to the client.
    pub state: Option<String>,
    /// How the client receives the response.
    #[serde(default)]
    pub response_mode: ResponseMode,
}

/// A response for the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Redirection {
    /// The URL to which the browser is sent; with `form_fields`, the URL to which the browser posts
    /// the form.
    #[schema(example = "https://notes.example.com/callback?code=…&state=…&iss=…")]
    pub url: String,
    /// The fields of the form to post, for `response_mode=form_post`; `null` otherwise.
    #[schema(value_type = Option<Vec<Vec<String>>>)]
    pub form_fields: Option<Vec<(String, String)>>,
}

impl ReturnPath {
    /// Whether the response of this client would send the browser to a site that a stranger has
    /// chosen, because anybody can be a client that describes itself. A client on the user's own
    /// machine may always get a response.
    pub fn is_of_stranger(&self, client: &OauthClient) -> bool {
        client.origin.is_some() && redirect_uri::check(&self.redirect_uri).is_ok_and(redirect_uri::Kind::proves_client)
    }

    /// The response with these parameters, `state` and `iss` (RFC 9207 §2).
    pub fn answer(&self, issuer: &str, parameters: &[(&str, &str)]) -> Redirection {
        let state = self.state.as_deref().map(|state| ("state", state));
        let all: Vec<(&str, &str)> = parameters.iter().copied().chain(state).chain([("iss", issuer)]).collect();
        match self.response_mode {
            ResponseMode::FormPost => {
                let fields = all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
                Redirection { url: self.redirect_uri.clone(), form_fields: Some(fields.collect()) }
            }
            ResponseMode::Query => {
                // The client's URI is used as registered, character by character.
                let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(all).finish();
                let separator = if self.redirect_uri.contains('?') { '&' } else { '?' };
                Redirection { url: format!("{}{separator}{query}", self.redirect_uri), form_fields: None }
            }
        }
    }

    /// The response that tells the client about a refusal.
    pub fn refuse(&self, issuer: &str, refusal: &Refusal) -> Redirection {
        self.answer(issuer, &[("error", refusal.error.code()), ("error_description", &refusal.description)])
    }
}

/// An authorization request that has been checked.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorizationRequest {
    /// The client.
    pub client_id: OauthClientId,
    /// Where the response is sent.
    pub back: ReturnPath,
    /// The requested scopes, other than those of resources.
    pub scopes: Scopes,
    /// The resources for which the client requests access tokens.
    #[serde(default, skip_serializing_if = "ResourceScopes::is_empty")]
    pub resources: ResourceScopes,
    /// The value to return in the ID token.
    pub nonce: Option<String>,
    /// The PKCE challenge (RFC 7636), method S256.
    pub code_challenge: Option<String>,
    /// What the pages must ask the user, or must not ask.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<Prompt>,
    /// The maximum time since the user authenticated, in seconds.
    pub max_age: Option<u32>,
    /// The only user who may sign in, known from the ID token that the client sent as a hint.
    pub hinted: Option<UserId>,
    /// A hint of who the user is, such as an email address.
    pub login_hint: Option<String>,
    /// The languages that the user prefers.
    pub ui_locales: Option<String>,
    /// Whether the client requests two factors.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wants_mfa: bool,
    /// When the request was made.
    pub began_at: Timestamp,
}

/// The name of a stored request: the client's id as 32 hexadecimal digits, then 26 random
/// characters. The id in the name lets the request and the client be read in one round trip.
#[derive(Debug, Clone)]
pub struct RequestName {
    text: SecretString,
    /// The client's id, which is part of the name.
    pub client_id: OauthClientId,
}

/// The prefix of the `request_uri` of a pushed request.
const URN: &str = "urn:ietf:params:oauth:request_uri:";
/// The length of the client's id in a name.
const ID: usize = 32;
/// The length of the random part of a name, which has 130 random bits.
const RANDOM: usize = 26;

impl RequestName {
    /// A new name for a request of this client.
    pub fn draw(entropy: &Entropy, client_id: OauthClientId) -> Self {
        let random = entropy.code();
        let text = format!("{}{}", client_id.uuid().as_simple(), &random.expose_secret()[..RANDOM]);
        Self { text: text.into(), client_id }
    }

    /// Parses a name; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let is_name = text.len() == ID + RANDOM && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
        let client_id = Uuid::try_parse(text.get(..ID).filter(|_| is_name)?).ok()?.into();
        Some(Self { text: text.to_owned().into(), client_id })
    }

    /// The name as the `request_uri` of a pushed request (RFC 9126 §2.2).
    pub fn urn(&self) -> String {
        format!("{URN}{}", self.text.expose_secret())
    }

    /// Parses the `request_uri` of a pushed request; `None` for any other URI.
    pub fn from_urn(uri: &str) -> Option<Self> {
        Self::parse(uri.strip_prefix(URN)?)
    }

    /// The name.
    pub fn text(&self) -> &SecretString {
        &self.text
    }
}

impl AuthorizationRequest {
    /// Whether the request forbids showing pages to the user.
    pub fn is_silent(&self) -> bool {
        self.prompts.contains(&Prompt::None)
    }

    /// Whether the user has taken too long.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        now >= after(self.began_at, LIFE)
    }

    /// Where the user returns to, as shown to people.
    pub fn shown_host(&self) -> String {
        redirect_uri::shown_host(&self.back.redirect_uri)
    }

    /// Whether the redirect URI proves which program receives the code.
    pub fn proves_client(&self) -> bool {
        redirect_uri::check(&self.back.redirect_uri).is_ok_and(redirect_uri::Kind::proves_client)
    }

    /// The origin of the redirect URI or, for native apps, its scheme, as a source in a content
    /// security policy.
    pub fn form_target(&self) -> String {
        let url = Url::parse(&self.back.redirect_uri).ok();
        let origin = url.as_ref().map(Url::origin).filter(url::Origin::is_tuple).map(|origin| origin.ascii_serialization());
        origin.or_else(|| url.map(|url| format!("{}:", url.scheme()))).unwrap_or_default()
    }
}
