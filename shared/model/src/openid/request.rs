//! Authorization requests (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1): parsed once, against the
//! client that makes them.

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
use wire::id::OauthClientId;

use crate::openid::client::OauthClient;
use crate::openid::redirect_uri;
use crate::openid::scope::{Scope, Scopes};
use crate::sign_in::authorization::is_challenge;

/// The longest query of a request, in bytes.
pub const MAX_QUERY: usize = 8 * 1024;
/// The longest value of `state` and of `nonce`, in bytes.
const MAX_VALUE: usize = 2048;
/// How long a user may take from the request to the decision.
pub const LIFE: SignedDuration = SignedDuration::from_hours(1);
/// The value of `acr_values` and `acr` for two factors.
pub const ACR_MFA: &str = "urn:gatelet:mfa";
/// The value of `acr` for one factor.
pub const ACR_SINGLE: &str = "urn:gatelet:1fa";

/// Why a request is refused (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6, RFC 8707 §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum AuthorizationError {
    /// A parameter is missing, invalid or given twice.
    InvalidRequest,
    /// The client may not use this flow.
    UnauthorizedClient,
    /// The user or the project refused.
    AccessDenied,
    /// Only `code` is supported.
    UnsupportedResponseType,
    /// A scope that the client may not ask for.
    InvalidScope,
    /// A resource that the project does not have.
    InvalidTarget,
    /// The user has to sign in, but no page may be shown.
    LoginRequired,
    /// The user has to choose an account, but no page may be shown.
    AccountSelectionRequired,
    /// The user has to consent, but no page may be shown.
    ConsentRequired,
    /// The user has to do something else, but no page may be shown.
    InteractionRequired,
    /// The parameter `request` is not supported.
    RequestNotSupported,
    /// The `request_uri` is not supported.
    RequestUriNotSupported,
    /// The parameter `registration` is not supported.
    RegistrationNotSupported,
}

impl AuthorizationError {
    /// The code in `error`.
    pub fn code(self) -> &'static str {
        self.into()
    }
}

/// A refusal, with a sentence for the client's developer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The error.
    pub error: AuthorizationError,
    /// What is wrong.
    pub description: Cow<'static, str>,
}

impl Refusal {
    /// A refusal with this error.
    pub fn new(error: AuthorizationError, description: impl Into<Cow<'static, str>>) -> Self {
        Self { error, description: description.into() }
    }

    fn invalid(description: impl Into<Cow<'static, str>>) -> Self {
        Self::new(AuthorizationError::InvalidRequest, description)
    }
}

/// What the pages must or must not ask (OpenID Connect Core §3.1.2.1, Initiating User Registration).
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
    /// The user is shown the sign-up.
    Create,
}

/// How the client gets the answer (OAuth 2.0 Multiple Response Types §2.1, Form Post §2).
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

/// Where the answer to a request goes, once the client and its redirect URI are proved.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReturnPath {
    /// The redirect URI.
    pub redirect_uri: String,
    /// The client's own state, returned to it.
    pub state: Option<String>,
    /// How the client gets the answer.
    #[serde(default)]
    pub response_mode: ResponseMode,
}

/// An answer for the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Redirection {
    /// The URL to send the user to; with `form_fields`, the URL that gets the form.
    #[schema(example = "https://notes.example.com/callback?code=…&state=…&iss=…")]
    pub url: String,
    /// The fields of the form to post, for `response_mode=form_post`; `null` otherwise.
    #[schema(value_type = Option<Vec<Vec<String>>>)]
    pub form_fields: Option<Vec<(String, String)>>,
}

impl ReturnPath {
    /// The answer with these parameters, `state` and `iss` (RFC 9207 §2).
    pub fn answer(&self, issuer: &str, parameters: &[(&str, &str)]) -> Redirection {
        let state = self.state.as_deref().map(|state| ("state", state));
        let all: Vec<(&str, &str)> = parameters.iter().copied().chain(state).chain([("iss", issuer)]).collect();
        match self.response_mode {
            ResponseMode::FormPost => {
                let fields = all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
                Redirection { url: self.redirect_uri.clone(), form_fields: Some(fields.collect()) }
            }
            ResponseMode::Query => {
                // The client's URI stays as it was registered, character by character.
                let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(all).finish();
                let separator = if self.redirect_uri.contains('?') { '&' } else { '?' };
                Redirection { url: format!("{}{separator}{query}", self.redirect_uri), form_fields: None }
            }
        }
    }

    /// The answer that the request is refused.
    pub fn refuse(&self, issuer: &str, refusal: &Refusal) -> Redirection {
        self.answer(issuer, &[("error", refusal.error.code()), ("error_description", &refusal.description)])
    }
}

/// A request that has been checked.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorizationRequest {
    /// The client.
    pub client_id: OauthClientId,
    /// Where the answer goes.
    pub back: ReturnPath,
    /// The requested scopes.
    pub scopes: Scopes,
    /// Returned in the ID token.
    pub nonce: Option<String>,
    /// The PKCE challenge (RFC 7636), method S256.
    pub code_challenge: Option<String>,
    /// What the pages must or must not ask.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<Prompt>,
    /// How long ago the user may have authenticated, in seconds.
    pub max_age: Option<u32>,
    /// Who the user probably is.
    pub login_hint: Option<String>,
    /// The languages that the user prefers.
    pub ui_locales: Option<String>,
    /// Whether the client asks for two factors.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wants_mfa: bool,
    /// When the request was made.
    pub began_at: Timestamp,
}

/// The name of a stored request: the client's id as 32 hexadecimal digits, so that request and client
/// are read in one round trip, and 26 random characters.
#[derive(Debug, Clone)]
pub struct RequestName {
    text: SecretString,
    /// The client that the name contains.
    pub client_id: OauthClientId,
}

/// The length of the client's id in a name.
const ID: usize = 32;
/// The length of the random part of a name: 130 random bits.
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

    /// The name.
    pub fn text(&self) -> &SecretString {
        &self.text
    }
}

/// The parameters of a request as they were sent.
#[derive(Debug, Clone)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// The parameters in a query or a form. One without a value counts as absent (RFC 6749 §3.1).
    pub fn parse(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().filter(|(_, value)| !value.is_empty()).collect())
    }

    fn all<'a>(&'a self, name: &'static str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The value of a parameter. One that is given twice is refused (RFC 6749 §3.1).
    fn one(&self, name: &'static str) -> Result<Option<&str>, Refusal> {
        let mut values = self.all(name);
        let first = values.next();
        match values.next() {
            None => Ok(first),
            Some(_) => Err(Refusal::invalid(format!("{name} is given more than once"))),
        }
    }

    /// A short value of a parameter.
    fn short(&self, name: &'static str) -> Result<Option<String>, Refusal> {
        match self.one(name)? {
            Some(value) if value.len() > MAX_VALUE => Err(Refusal::invalid(format!("{name} must have at most {MAX_VALUE} bytes"))),
            value => Ok(value.map(str::to_owned)),
        }
    }

    /// The client that the request names, before anything is proved.
    pub fn client_id(&self) -> Result<OauthClientId, Refusal> {
        let id = self.one("client_id")?.ok_or_else(|| Refusal::invalid("client_id is missing"))?;
        OauthClientId::parse(id).map_err(|_| Refusal::invalid("client_id names no client of this project"))
    }

    /// Where the answer goes. Until this is known, errors must not leave the service: the redirect
    /// URI may be an attacker's.
    pub fn return_path(&self, client: &OauthClient) -> Result<ReturnPath, Refusal> {
        let redirect_uri = match (self.one("redirect_uri")?, client.redirect_uris.as_slice()) {
            (Some(given), _) if client.may_return_to(given) => given,
            (Some(_), _) => return Err(Refusal::invalid("redirect_uri is not one of the client's redirect URIs")),
            (None, [only]) if !self.asks_for_openid() => only,
            (None, _) => return Err(Refusal::invalid("redirect_uri is missing")),
        };
        // What follows may be wrong without the redirect URI being an attacker's.
        let state = self.one("state").ok().flatten().filter(|state| state.len() <= MAX_VALUE).map(str::to_owned);
        let response_mode = self.one("response_mode").ok().flatten().and_then(|mode| mode.parse().ok()).unwrap_or_default();
        Ok(ReturnPath { redirect_uri: redirect_uri.to_owned(), state, response_mode })
    }

    /// OpenID Connect Core §3.1.2.1 requires the redirect URI.
    fn asks_for_openid(&self) -> bool {
        self.all("scope").any(|scopes| scopes.split(' ').any(|scope| scope == Scope::Openid.name()))
    }

    /// The checked request of this client.
    pub fn request(&self, client: &OauthClient, back: ReturnPath, now: Timestamp) -> Result<AuthorizationRequest, Refusal> {
        self.refuse_what_is_not_supported()?;
        self.short("state")?;
        match self.one("response_type")? {
            Some("code") => {}
            None => return Err(Refusal::invalid("response_type is missing")),
            Some(_) => return Err(Refusal::new(AuthorizationError::UnsupportedResponseType, "response_type must be code")),
        }
        if self.one("response_mode")?.is_some_and(|mode| mode.parse::<ResponseMode>().is_err()) {
            return Err(Refusal::invalid("response_mode must be query or form_post"));
        }
        let nonce = self.short("nonce")?;
        Ok(AuthorizationRequest {
            client_id: client.id,
            code_challenge: self.challenge(client, nonce.is_some())?,
            nonce,
            scopes: self.scopes(client)?,
            prompts: self.prompts()?,
            max_age: self.max_age()?,
            login_hint: self.one("login_hint")?.filter(|hint| hint.len() <= 320).map(str::to_owned),
            ui_locales: self.one("ui_locales")?.filter(|locales| locales.len() <= 128).map(str::to_owned),
            wants_mfa: self.one("acr_values")?.is_some_and(|values| values.split(' ').any(|value| value == ACR_MFA)),
            began_at: now,
            back,
        })
    }

    fn refuse_what_is_not_supported(&self) -> Result<(), Refusal> {
        for (name, error) in [
            ("request", AuthorizationError::RequestNotSupported),
            ("request_uri", AuthorizationError::RequestUriNotSupported),
            ("registration", AuthorizationError::RegistrationNotSupported),
            ("resource", AuthorizationError::InvalidTarget),
        ] {
            if let Some(_) = self.all(name).next() {
                return Err(Refusal::new(error, format!("{name} is not supported")));
            }
        }
        Ok(())
    }

    fn challenge(&self, client: &OauthClient, has_nonce: bool) -> Result<Option<String>, Refusal> {
        match (self.one("code_challenge")?, self.one("code_challenge_method")?) {
            (Some(challenge), Some("S256")) if is_challenge(challenge) => Ok(Some(challenge.to_owned())),
            (Some(_), Some("S256")) => Err(Refusal::invalid("code_challenge must be the 43 characters of a SHA-256 digest in base64url")),
            // Without a method, the challenge would be the verifier itself (RFC 7636 §4.3).
            (Some(_), _) => Err(Refusal::invalid("code_challenge_method must be S256")),
            (None, _) if client.pkce_optional && client.is_confidential() && has_nonce => Ok(None),
            (None, _) => Err(Refusal::invalid("code_challenge is missing: PKCE is required")),
        }
    }

    fn scopes(&self, client: &OauthClient) -> Result<Scopes, Refusal> {
        let invalid = |text: String| Refusal::new(AuthorizationError::InvalidScope, text);
        let asked = Scopes::parse(self.one("scope")?.unwrap_or_default()).map_err(|error| invalid(format!("scope {error}")))?;
        // Scopes that nobody here knows are ignored (OpenID Connect Core §3.1.2.1).
        let asked = asked.only(&Scopes::standard());
        if asked.are_within(&client.scopes) { Ok(asked) } else { Err(invalid(format!("scope may only have: {}", client.scopes))) }
    }

    fn prompts(&self) -> Result<Vec<Prompt>, Refusal> {
        let words = self.one("prompt")?.unwrap_or_default().split(' ').filter(|word| !word.is_empty());
        let prompts: Result<Vec<Prompt>, _> = words.map(str::parse).collect();
        let prompts = prompts.map_err(|_| Refusal::invalid(format!("prompt must be one or more of {}", Prompt::VARIANTS.join(", "))))?;
        if prompts.contains(&Prompt::None) && prompts.len() > 1 {
            return Err(Refusal::invalid("prompt must not have other values beside none"));
        }
        Ok(prompts)
    }

    fn max_age(&self) -> Result<Option<u32>, Refusal> {
        let Some(text) = self.one("max_age")? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| Refusal::invalid("max_age must be a number of seconds"))
    }
}

impl AuthorizationRequest {
    /// Whether nothing may be shown to the user.
    pub fn is_silent(&self) -> bool {
        self.prompts.contains(&Prompt::None)
    }

    /// Whether the user took too long.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        now >= after(self.began_at, LIFE)
    }

    /// Where the user returns to, for people.
    pub fn shown_host(&self) -> String {
        redirect_uri::shown_host(&self.back.redirect_uri)
    }

    /// The origin of the redirect URI, or its scheme for native apps, as a source in a content
    /// security policy.
    pub fn form_target(&self) -> String {
        let url = Url::parse(&self.back.redirect_uri).ok();
        let origin = url.as_ref().map(Url::origin).filter(url::Origin::is_tuple).map(|origin| origin.ascii_serialization());
        origin.or_else(|| url.map(|url| format!("{}:", url.scheme()))).unwrap_or_default()
    }
}
