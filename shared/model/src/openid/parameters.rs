//! The parameters of an authorization request: parsed once, and checked against the client that
//! sent them.

use jiff::Timestamp;
use strum::VariantNames as _;
use url::form_urlencoded;

use crate::openid::client::OauthClient;
use crate::openid::request::{AuthorizationError, AuthorizationRequest, Prompt, Refusal, RequestName, ResponseMode, ReturnPath};
use crate::openid::resource::{MAX_REQUESTED, OauthResource};
use crate::session::client::ACR_MFA;
use crate::session::client_name::ClientName;
use crate::session::resource_scopes::{ResourceIdentifier, ResourceScopes};
use crate::session::scope::{Scope, Scopes};
use crate::sign_in::authorization::is_challenge;

/// The maximum length of a request's query, in bytes.
pub const MAX_QUERY: usize = 8 * 1024;
/// The maximum length of `state` and of `nonce`, in bytes.
const MAX_VALUE: usize = 2048;

/// The parameters of a request, in the form in which they were sent.
#[derive(Debug, Clone)]
pub struct Parameters(Vec<(String, String)>);

/// A request to sign a user out (RP-Initiated Logout 1.0 §2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogoutRequest {
    /// An ID token that was issued to the client, possibly long ago.
    pub id_token_hint: Option<String>,
    /// The client.
    pub client_id: Option<ClientName>,
    /// Where the user goes after signing out.
    pub redirect_uri: Option<String>,
    /// The client's `state`, which is returned to the client.
    state: Option<String>,
}

impl LogoutRequest {
    /// The redirect URI with the client's state.
    pub fn returning(&self, uri: &str) -> String {
        let Some(state) = &self.state else { return uri.to_owned() };
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("state", state).finish();
        format!("{uri}{}{query}", if uri.contains('?') { '&' } else { '?' })
    }
}

impl Parameters {
    /// The request to sign a user out.
    pub fn logout(&self) -> Result<LogoutRequest, Refusal> {
        let client_id = self.one("client_id")?.map(ClientName::parse).transpose();
        Ok(LogoutRequest {
            id_token_hint: self.one("id_token_hint")?.map(str::to_owned),
            client_id: client_id.map_err(|error| Refusal::invalid(format!("client_id {error}")))?,
            redirect_uri: self.one("post_logout_redirect_uri")?.map(str::to_owned),
            state: self.short("state")?,
        })
    }

    /// The ID token of the user whom the client expects.
    pub fn id_token_hint(&self) -> Result<Option<&str>, Refusal> {
        self.one("id_token_hint")
    }

    /// The parameters in a query or a form. Parameters without a value count as absent (RFC 6749
    /// §3.1).
    pub fn parse(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().filter(|(_, value)| !value.is_empty()).collect())
    }

    /// Parameters that have already been parsed.
    pub fn from_fields<'a>(fields: impl Iterator<Item = (&'static str, &'a str)>) -> Self {
        Self(fields.filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// The name of the pushed request, if the client sent `request_uri` instead of parameters.
    /// `None` if there is no `request_uri`, or if the `request_uri` cannot belong to a pushed
    /// request.
    pub fn pushed(&self) -> Result<Option<RequestName>, Refusal> {
        Ok(self.one("request_uri")?.and_then(RequestName::from_urn))
    }

    fn all<'a>(&'a self, name: &'static str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The value of a parameter. A parameter that is given twice is refused (RFC 6749 §3.1).
    fn one(&self, name: &'static str) -> Result<Option<&str>, Refusal> {
        let mut values = self.all(name);
        let first = values.next();
        match values.next() {
            None => Ok(first),
            Some(_) => Err(Refusal::invalid(format!("{name} was sent more than once"))),
        }
    }

    /// The value of a parameter of limited length.
    fn short(&self, name: &'static str) -> Result<Option<String>, Refusal> {
        match self.one(name)? {
            Some(value) if value.len() > MAX_VALUE => Err(Refusal::invalid(format!("{name} must have at most {MAX_VALUE} bytes"))),
            value => Ok(value.map(str::to_owned)),
        }
    }

    /// The client named in the request, before the client is authenticated.
    pub fn client_id(&self) -> Result<ClientName, Refusal> {
        let name = self.one("client_id")?.ok_or_else(|| Refusal::invalid("client_id is missing"))?;
        ClientName::parse(name).map_err(|error| Refusal::invalid(format!("client_id {error}")))
    }

    /// The resources for which the client requests access tokens (RFC 8707 §2).
    pub fn resources(&self) -> Result<Vec<ResourceIdentifier>, Refusal> {
        let invalid = |text: String| Refusal::new(AuthorizationError::InvalidTarget, text);
        let parse = |text| ResourceIdentifier::parse(text).map_err(|error| invalid(format!("resource {error}")));
        let named = self.all("resource").take(MAX_REQUESTED + 1).map(parse).collect::<Result<Vec<_>, _>>()?;
        if named.len() > MAX_REQUESTED { Err(invalid(format!("resource must be given at most {MAX_REQUESTED} times"))) } else { Ok(named) }
    }

    /// Where the answer goes. Until the redirect URI is checked, errors must not be sent to it,
    /// because it may belong to an attacker.
    pub fn return_path(&self, client: &OauthClient) -> Result<ReturnPath, Refusal> {
        let redirect_uri = match (self.one("redirect_uri")?, client.redirect_uris.as_slice()) {
            (Some(given), _) if client.may_return_to(given) => given,
            (Some(_), _) => return Err(Refusal::invalid("redirect_uri is not one of the client's redirect URIs")),
            (None, [only]) if !self.asks_for_openid() => only,
            (None, _) => return Err(Refusal::invalid("redirect_uri is missing")),
        };
        // From here on, the redirect URI is known to belong to the client, even if other parameters
        // are wrong.
        let state = self.one("state").ok().flatten().filter(|state| state.len() <= MAX_VALUE).map(str::to_owned);
        let response_mode = self.one("response_mode").ok().flatten().and_then(|mode| mode.parse().ok()).unwrap_or_default();
        Ok(ReturnPath { redirect_uri: redirect_uri.to_owned(), state, response_mode })
    }

    /// Requests for OpenID Connect must contain the redirect URI (OpenID Connect Core §3.1.2.1).
    fn asks_for_openid(&self) -> bool {
        self.all("scope").any(|scopes| scopes.split(' ').any(|scope| scope == Scope::Openid.name()))
    }

    /// The request of this client, with all parameters checked. `known` are those of the named
    /// resources that exist.
    pub fn request(
        &self,
        client: &OauthClient,
        known: &[OauthResource],
        back: ReturnPath,
        now: Timestamp,
    ) -> Result<AuthorizationRequest, Refusal> {
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
            resources: self.resource_scopes(known)?,
            prompts: self.prompts()?,
            max_age: self.max_age()?,
            hinted: None,
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
        ] {
            if self.all(name).next().is_some() {
                return Err(Refusal::new(error, format!("{name} is not supported")));
            }
        }
        Ok(())
    }

    fn challenge(&self, client: &OauthClient, has_nonce: bool) -> Result<Option<String>, Refusal> {
        match (self.one("code_challenge")?, self.one("code_challenge_method")?) {
            (Some(challenge), Some("S256")) if is_challenge(challenge) => Ok(Some(challenge.to_owned())),
            (Some(_), Some("S256")) => Err(Refusal::invalid("code_challenge must be the 43 characters of a SHA-256 digest in base64url")),
            // The default method uses the verifier itself as the challenge (RFC 7636 §4.3).
            (Some(_), _) => Err(Refusal::invalid("code_challenge_method must be S256")),
            (None, _) if client.pkce_optional && client.is_confidential() && has_nonce => Ok(None),
            (None, _) => Err(Refusal::invalid("code_challenge is missing: PKCE is required")),
        }
    }

    /// All scopes in the request. Unknown scopes are ignored (OpenID Connect Core §3.1.2.1).
    fn asked(&self) -> Result<Scopes, Refusal> {
        let invalid = |error| Refusal::new(AuthorizationError::InvalidScope, format!("scope {error}"));
        Scopes::parse(self.one("scope")?.unwrap_or_default()).map_err(invalid)
    }

    /// The scopes other than those of resources.
    fn scopes(&self, client: &OauthClient) -> Result<Scopes, Refusal> {
        let asked = self.asked()?.only(&Scopes::standard());
        let refusal = || Refusal::new(AuthorizationError::InvalidScope, format!("scope may contain only {}", client.scopes));
        if asked.are_within(&client.scopes) { Ok(asked) } else { Err(refusal()) }
    }

    fn resource_scopes(&self, known: &[OauthResource]) -> Result<ResourceScopes, Refusal> {
        let (asked, mut requested) = (self.asked()?, ResourceScopes::default());
        for identifier in self.resources()? {
            let resource = known.iter().find(|resource| resource.identifier == identifier);
            let unknown = || Refusal::new(AuthorizationError::InvalidTarget, format!("{identifier} is not a resource of this project"));
            requested.add(&identifier, &resource.ok_or_else(unknown)?.requested(&asked));
        }
        Ok(requested)
    }

    fn prompts(&self) -> Result<Vec<Prompt>, Refusal> {
        let words = self.one("prompt")?.unwrap_or_default().split(' ').filter(|word| !word.is_empty());
        let prompts: Result<Vec<Prompt>, _> = words.map(str::parse).collect();
        let prompts = prompts.map_err(|_| Refusal::invalid(format!("prompt must be one or more of {}", Prompt::VARIANTS.join(", "))))?;
        if prompts.contains(&Prompt::None) && prompts.len() > 1 {
            return Err(Refusal::invalid("prompt=none must not be combined with other values"));
        }
        Ok(prompts)
    }

    fn max_age(&self) -> Result<Option<u32>, Refusal> {
        let Some(text) = self.one("max_age")? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| Refusal::invalid("max_age must be a number of seconds"))
    }
}
