//! The second half of a flow: exchanges a provider's code for tokens (RFC 6749 §4.1.3) and reads
//! the account. Also refreshes the tokens later (§6), and checks whether the provider still accepts
//! an access token.

use jiff::Timestamp;
use model::project::OAuthProvider;
use model::provider::catalog::scopes::joined;
use model::provider::catalog::{self, Api, ClientAuth, Identity, TENANT, TokenCheck};
use model::provider::profile::Profile;
use model::sign_in::authorization::uses_pkce;
use net::outgoing::{Answer, AnswerError, Outgoing};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use crate::account::{HMAC, OpenId, Reader};
use crate::metadata;
pub use crate::tokens::Tokens;
use crate::tokens::error;

/// The error code for a client that is unknown or not authenticated (RFC 6749 §5.2).
const INVALID_CLIENT: &str = "invalid_client";

/// A provider, and the client used to call it.
pub struct Peer<'a> {
    outgoing: Outgoing<'a>,
    provider: &'a OAuthProvider,
    client: Client,
    now: Timestamp,
}

/// A client registered with a provider.
pub struct Client {
    /// The client id.
    pub id: String,
    /// The client secret.
    pub secret: SecretString,
}

/// The authorization code of a flow, with the values needed to exchange it.
pub struct Grant<'a> {
    /// The authorization code.
    pub code: &'a str,
    /// The PKCE verifier (RFC 7636 §4.5).
    pub verifier: &'a SecretString,
    /// The redirect URI that received the code; providers compare it with the one in the
    /// authorization request.
    pub callback: &'a str,
    /// The nonce that the ID token must contain.
    pub nonce: &'a str,
    /// Whether the authorization response named the issuer (`iss`, RFC 9207 §2).
    pub names_issuer: bool,
    /// The scopes of the authorization request.
    pub scope: &'a str,
}

/// Why a provider did not issue tokens.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The provider does not accept the code or refresh token, for example because it has expired.
    #[error("the provider does not accept the grant: {0}")]
    Grant(String),
    /// The provider does not accept the client id or the client secret.
    #[error("the provider does not accept the client: {0}")]
    Client(String),
    /// The provider's response is missing or unusable, or the provider refused the request for
    /// another reason.
    #[error(transparent)]
    Fault(AnswerError),
}

impl From<AnswerError> for ExchangeError {
    /// Classifies a refusal by its error code (RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, OpenID
    /// Connect Core §3.1.2.6, and codes of GitHub and Facebook).
    fn from(fault: AnswerError) -> Self {
        match fault {
            AnswerError::Refused(code) => match code.as_str() {
                "invalid_grant" | "access_denied" | "consent_required" | "invalid_token" | "unauthorized_client" | "bad_refresh_token" => {
                    Self::Grant(code)
                }
                INVALID_CLIENT | "incorrect_client_credentials" | "OAuthException 1" | "OAuthException 101" => Self::Client(code),
                "temporarily_unavailable" | "server_error" => Self::Fault(AnswerError::Unavailable(code)),
                "invalid_request" | "invalid_scope" | "unsupported_grant_type" | "redirect_uri_mismatch" => {
                    Self::Fault(AnswerError::Misconfigured(format!("it answers {code}")))
                }
                _ => Self::Fault(AnswerError::Refused(code)),
            },
            fault => Self::Fault(fault),
        }
    }
}

/// A provider's endpoints, with the values needed to call them.
struct Endpoints {
    names_issuer: bool,
    token: String,
    client_auth: ClientAuth,
    source: Source,
}

enum Source {
    OpenId(OpenId),
    Api(Api),
}

impl<'a> Peer<'a> {
    /// A project's provider, which is called with `client`.
    pub fn new(outgoing: Outgoing<'a>, provider: &'a OAuthProvider, client: Client, now: Timestamp) -> Self {
        Self { outgoing, provider, client, now }
    }

    async fn endpoints(&self) -> Result<Endpoints, AnswerError> {
        let Some(known) = catalog::find(&self.provider.id) else {
            let issuer = self.provider.issuer.as_deref().unwrap_or_default();
            let found = metadata::discover(self.outgoing, issuer, self.now).await?;
            let (client_auth, names_issuer) = (found.client_auth(), found.names_itself());
            let hmac = HMAC.into_iter().filter(|algorithm| found.signs_with(algorithm)).collect();
            let source = OpenId { issuer: found.issuer, jwks_uri: found.jwks_uri, userinfo: found.userinfo_endpoint, hmac };
            return Ok(Endpoints { names_issuer, token: found.token_endpoint, client_auth, source: Source::OpenId(source) });
        };
        let tenant = self.provider.microsoft_tenant_id.as_deref().unwrap_or("common");
        let source = match known.identity {
            Identity::IdToken { issuer, jwks_uri } => {
                Source::OpenId(OpenId { issuer: issuer.to_owned(), jwks_uri: jwks_uri.to_owned(), userinfo: None, hmac: Vec::new() })
            }
            Identity::Api(api) => Source::Api(api),
        };
        Ok(Endpoints { names_issuer: false, token: known.token_endpoint.replace(TENANT, tenant), client_auth: known.client_auth, source })
    }

    fn reader(&self) -> Reader<'_> {
        Reader { outgoing: self.outgoing, client_id: &self.client.id, secret: &self.client.secret, now: self.now }
    }

    /// The scopes to repeat in a token request, if the provider requires them there.
    fn scope<'s>(&self, scope: &'s str) -> Option<(&'static str, &'s str)> {
        catalog::find(&self.provider.id).filter(|known| known.wants_scope).map(|_| ("scope", scope))
    }

    /// Exchanges a code for tokens, and reads the account. Fails if the provider cannot be called,
    /// if it refuses the code or the client ([`ExchangeError::from`] distinguishes them), or if one
    /// of its responses violates the protocol.
    pub async fn account(&self, grant: &Grant<'_>) -> Result<(Tokens, Profile), AnswerError> {
        let endpoints = self.endpoints().await?;
        if endpoints.names_issuer && !grant.names_issuer {
            // RFC 9207 §2.4: a response without the issuer may come from a mix-up attack.
            return Err(AnswerError::Refused("the authorization response does not name its issuer (`iss`)".to_owned()));
        }
        let mut form = vec![("grant_type", "authorization_code"), ("code", grant.code), ("redirect_uri", grant.callback)];
        form.extend(uses_pkce(&self.provider.id).then(|| ("code_verifier", grant.verifier.expose_secret())));
        form.extend(self.scope(grant.scope));
        let tokens = self.tokens(&endpoints, form).await?;
        let profile = match &endpoints.source {
            Source::OpenId(source) => self.reader().read_openid(source, &tokens, grant.nonce).await?,
            Source::Api(api) => self.reader().read_api(api, &tokens).await?,
        };
        Ok((tokens, profile))
    }

    /// Gets a new access token from the provider (RFC 6749 §6). `scope` lists the scopes of the
    /// refresh token.
    pub async fn refresh(&self, refresh_token: &SecretString, scope: &str) -> Result<Tokens, ExchangeError> {
        let endpoints = self.endpoints().await?;
        let mut form = vec![("grant_type", "refresh_token"), ("refresh_token", refresh_token.expose_secret())];
        // The scope that requested the refresh token also requests the next one, because providers
        // often do not report the scope.
        let scope = joined([scope, catalog::find(&self.provider.id).map_or("", |known| known.offline.scope)]);
        form.extend(self.scope(&scope));
        Ok(self.tokens(&endpoints, form).await?)
    }

    /// Whether the provider still accepts an access token; `None` if this cannot be checked, as for
    /// an issuer outside the catalog without a userinfo endpoint (OpenID Connect Core §5.3.3).
    pub async fn accepts(&self, access_token: &SecretString) -> Result<Option<bool>, AnswerError> {
        let token = access_token.expose_secret();
        let Some(known) = catalog::find(&self.provider.id) else {
            let Source::OpenId(OpenId { userinfo: Some(endpoint), .. }) = self.endpoints().await?.source else { return Ok(None) };
            return judged(&self.outgoing.fetch(&endpoint, Some(token), None).await?, None).map(Some);
        };
        let (api, number) = match (known.token_check, known.identity) {
            (TokenCheck::TokenInfo(endpoint), _) => {
                let (status, answer) = self.outgoing.post(endpoint, &[("access_token", token)], None).await?;
                return match answer["error"].as_str() {
                    None if (200..=299).contains(&status) => Ok(Some(true)),
                    Some("invalid_token") => Ok(Some(false)),
                    _ => Err(AnswerError::Refused(status.to_string())),
                };
            }
            (TokenCheck::Account, Identity::Api(api)) => (api, None),
            (TokenCheck::AccountError(number), Identity::Api(api)) => (api, Some(number)),
            // Apple does not have an API for this check, and its tokens expire after an hour.
            (TokenCheck::None, _) | (_, Identity::IdToken { .. }) => return Ok(Some(true)),
        };
        judged(&self.reader().ask(&api, access_token).await?, number).map(Some)
    }

    async fn tokens(&self, endpoints: &Endpoints, form: Vec<(&str, &str)>) -> Result<Tokens, AnswerError> {
        let (id, secret) = (self.client.id.as_str(), self.client.secret.expose_secret());
        let mut form: Vec<(&str, &str)> = form;
        let basic = match endpoints.client_auth {
            ClientAuth::Basic => Some((id, secret)),
            ClientAuth::Body => {
                form.extend([("client_id", id), ("client_secret", secret)]);
                None
            }
        };
        let (status, answer) = self.outgoing.post(&endpoints.token, &form, basic).await?;
        // GitHub reports errors with status 200.
        if let Some(error) = error(&answer) {
            return Err(AnswerError::Refused(error));
        }
        if (200..=299).contains(&status) {
            return Tokens::read(&answer, self.now);
        }
        // RFC 6749 §5.2: only an unauthenticated client gets a 401.
        let code = if status == 401 { INVALID_CLIENT } else { "it gave no reason" };
        Err(AnswerError::Refused(code.to_owned()))
    }
}

/// Whether a response to a call with an access token shows that the provider accepts the token.
/// `number` is the value at `/error/code` for providers that refuse a token with the status 400
/// instead of 401.
fn judged(answer: &Answer, number: Option<i64>) -> Result<bool, AnswerError> {
    match answer.status() {
        200..=299 => Ok(true),
        401 => Ok(false),
        400 if number.is_some() && answer.json::<Value>()?["error"]["code"].as_i64() == number => Ok(false),
        status => Err(AnswerError::Refused(status.to_string())),
    }
}
