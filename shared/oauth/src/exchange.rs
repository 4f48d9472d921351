//! The second half of a flow: exchanges a provider's code for tokens (RFC 6749 §4.1.3) and reads
//! the account that they belong to. Later, refreshes these tokens (§6), and asks the provider
//! whether it still accepts an access token.

use jiff::{SignedDuration, Timestamp};
use model::project::OAuthProvider;
use model::provider::catalog::{self, Api, ClientAuth, Identity, TENANT};
use model::provider::profile::{Fields, Profile};
use net::outgoing::{Fault, Outgoing};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::IgnoredAny;
use serde_json::Value;
use wire::clock::after;

use crate::id_token::{self, Expected};
use crate::metadata;

/// The error code for a client that is unknown or not authenticated (RFC 6749 §5.2).
const INVALID_CLIENT: &str = "invalid_client";

/// A provider with everything that a call to it needs.
pub struct Peer<'a> {
    outgoing: Outgoing<'a>,
    provider: &'a OAuthProvider,
    client: Client,
    now: Timestamp,
}

/// A client that is registered with a provider.
pub struct Client {
    /// The client id.
    pub id: String,
    /// The client secret.
    pub secret: SecretString,
}

/// What a provider issues for a code or a refresh token (RFC 6749 §5.1).
pub struct Tokens {
    /// The provider's access token.
    pub access_token: SecretString,
    /// The provider's refresh token, if it issues one.
    pub refresh_token: Option<SecretString>,
    /// The ID token of an OpenID provider; not verified yet.
    pub id_token: Option<SecretString>,
    /// When the access token expires; absent unless the provider names a time at most one year
    /// away.
    pub expires_at: Option<Timestamp>,
    /// The granted scopes as the provider reports them, separated by spaces or, at GitHub, by
    /// commas; `None` if the provider reports no text. The requested scopes then count as granted.
    pub scope: Option<String>,
}

/// The authorization code of a flow, and the values that belong to the flow.
pub struct Grant<'a> {
    /// The authorization code.
    pub code: &'a str,
    /// The PKCE verifier (RFC 7636 §4.5).
    pub verifier: &'a SecretString,
    /// The redirect URI that the code was sent to; providers compare it with the one in the
    /// authorization request.
    pub callback: &'a str,
    /// The nonce that the ID token must contain.
    pub nonce: &'a str,
    /// Whether the authorization response named the issuer (`iss`, RFC 9207 §2).
    pub names_issuer: bool,
}

/// Why a provider issued no tokens.
#[derive(Debug, thiserror::Error)]
pub enum NotIssued {
    /// The provider does not accept the code or the refresh token, or no longer does.
    #[error("the provider does not accept the grant: {0}")]
    Grant(String),
    /// The provider does not accept the client id or the client secret.
    #[error("the provider does not accept the client: {0}")]
    Client(String),
    /// The provider gave no usable answer, or refused the request for another reason.
    #[error(transparent)]
    Fault(Fault),
}

impl From<Fault> for NotIssued {
    /// Judges a refusal by its error code (RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, OpenID
    /// Connect Core §3.1.2.6, and codes of GitHub).
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused(code) => match code.as_str() {
                "invalid_grant" | "access_denied" | "consent_required" | "invalid_token" | "unauthorized_client" | "bad_refresh_token" => {
                    Self::Grant(code)
                }
                INVALID_CLIENT | "incorrect_client_credentials" => Self::Client(code),
                "temporarily_unavailable" | "server_error" => Self::Fault(Fault::Unavailable(code)),
                _ => Self::Fault(Fault::Refused(code)),
            },
            fault => Self::Fault(fault),
        }
    }
}

/// A provider's endpoints, and what calls to them depend on.
struct Endpoints {
    names_issuer: bool,
    token: String,
    client_auth: ClientAuth,
    source: Source,
}

enum Source {
    IdToken { issuer: String, jwks_uri: String, userinfo: Option<String> },
    Api(Api),
}

impl<'a> Peer<'a> {
    /// A provider of a project, called with this client.
    pub fn new(outgoing: Outgoing<'a>, provider: &'a OAuthProvider, client: Client, now: Timestamp) -> Self {
        Self { outgoing, provider, client, now }
    }

    async fn endpoints(&self) -> Result<Endpoints, Fault> {
        let Some(known) = catalog::find(&self.provider.id) else {
            let issuer = self.provider.issuer.as_deref().unwrap_or_default();
            let found = metadata::discover(self.outgoing, issuer, self.now).await?;
            let (client_auth, names_issuer) = (found.client_auth(), found.authorization_response_iss_parameter_supported);
            let source = Source::IdToken { issuer: found.issuer, jwks_uri: found.jwks_uri, userinfo: found.userinfo_endpoint };
            return Ok(Endpoints { names_issuer, token: found.token_endpoint, client_auth, source });
        };
        let tenant = self.provider.microsoft_tenant_id.as_deref().unwrap_or("common");
        let source = match known.identity {
            Identity::IdToken { issuer, jwks_uri } => {
                Source::IdToken { issuer: issuer.to_owned(), jwks_uri: jwks_uri.to_owned(), userinfo: None }
            }
            Identity::Api(api) => Source::Api(api),
        };
        Ok(Endpoints { names_issuer: false, token: known.token_endpoint.replace(TENANT, tenant), client_auth: known.client_auth, source })
    }

    /// Exchanges a code, and reads the account that it belongs to. Fails if the provider cannot be
    /// called or refuses the code or the client ([`NotIssued::from`] tells which), or if one of its
    /// answers violates the protocol.
    pub async fn account(&self, grant: &Grant<'_>) -> Result<(Tokens, Profile), Fault> {
        let endpoints = self.endpoints().await?;
        if endpoints.names_issuer && !grant.names_issuer {
            // RFC 9207 §2.4: a response without the issuer may come from a mix-up attack.
            return Err(Fault::Refused("the authorization response does not name its issuer (`iss`)".to_owned()));
        }
        let form = [
            ("grant_type", "authorization_code"),
            ("code", grant.code),
            ("redirect_uri", grant.callback),
            ("code_verifier", grant.verifier.expose_secret()),
        ];
        let tokens = self.tokens(&endpoints, &form).await?;
        let profile = self.profile(&endpoints.source, &tokens, grant.nonce).await?;
        Ok((tokens, profile))
    }

    /// A new access token from the provider (RFC 6749 §6).
    pub async fn refresh(&self, refresh_token: &SecretString) -> Result<Tokens, NotIssued> {
        let endpoints = self.endpoints().await?;
        let form = [("grant_type", "refresh_token"), ("refresh_token", refresh_token.expose_secret())];
        Ok(self.tokens(&endpoints, &form).await?)
    }

    /// Whether the provider still accepts an access token. Always `true` for a provider whose
    /// accounts are read from ID tokens, because the catalog has no API to try the token with.
    pub async fn accepts(&self, access_token: &SecretString) -> Result<bool, Fault> {
        let Some(Identity::Api(api)) = catalog::find(&self.provider.id).map(|known| known.identity) else { return Ok(true) };
        let header = api.client_id_header.map(|name| (name, self.client.id.as_str()));
        match self.outgoing.get::<IgnoredAny>(api.url, Some(access_token.expose_secret()), header).await {
            Ok(_) => Ok(true),
            Err(Fault::Unauthorized) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    async fn tokens(&self, endpoints: &Endpoints, form: &[(&str, &str)]) -> Result<Tokens, Fault> {
        let (id, secret) = (self.client.id.as_str(), self.client.secret.expose_secret());
        let mut form = form.to_vec();
        let basic = match endpoints.client_auth {
            ClientAuth::Basic => Some((id, secret)),
            ClientAuth::Body => {
                form.extend([("client_id", id), ("client_secret", secret)]);
                None
            }
        };
        let (status, answer) = self.outgoing.post(&endpoints.token, &form, basic).await?;
        // GitHub reports errors with status 200.
        if let Some(error) = answer["error"].as_str() {
            return Err(Fault::Refused(error.chars().take(100).collect()));
        }
        if status.is_success() {
            return Tokens::read(&answer, self.now);
        }
        // RFC 6749 §5.2: only a client that is not authenticated is answered with 401.
        let code = if status == 401 { INVALID_CLIENT } else { "it gave no reason" };
        Err(Fault::Refused(code.to_owned()))
    }

    async fn profile(&self, source: &Source, tokens: &Tokens, nonce: &str) -> Result<Profile, Fault> {
        let bearer = tokens.access_token.expose_secret();
        let senseless = |error: model::provider::profile::NoAccount| Fault::Senseless(error.to_string());
        match source {
            Source::IdToken { issuer, jwks_uri, userinfo } => {
                let token = tokens.id_token.as_ref().ok_or_else(|| Fault::Senseless("the token response has no ID token".to_owned()))?;
                let expected = Expected { issuer, jwks_uri, client_ids: &[&self.client.id], nonce: Some(nonce) };
                let claims = id_token::verify(self.outgoing, token.expose_secret(), &expected, self.now).await?;
                let profile = Fields::OPENID.read(&claims).map_err(senseless)?;
                match userinfo {
                    Some(endpoint) if profile.email.is_none() => {
                        let more = Fields::OPENID.read(&self.outgoing.get(endpoint, Some(bearer), None).await?).map_err(senseless)?;
                        // OpenID Connect Core §5.3.2: `sub` must match that of the ID token.
                        if more.account_id == profile.account_id {
                            Ok(more)
                        } else {
                            Err(Fault::Senseless("the userinfo response belongs to another account".to_owned()))
                        }
                    }
                    _ => Ok(profile),
                }
            }
            Source::Api(api) => {
                let header = api.client_id_header.map(|name| (name, self.client.id.as_str()));
                let mut profile = api.fields.read(&self.outgoing.get(api.url, Some(bearer), header).await?).map_err(senseless)?;
                if let Some((url, addresses)) = api.addresses
                    && let Some((email, verified)) = addresses.primary(&self.outgoing.get(url, Some(bearer), None).await?)
                {
                    (profile.email, profile.email_verified) = (Some(email), verified);
                }
                Ok(profile)
            }
        }
    }
}

impl Tokens {
    fn read(answer: &Value, now: Timestamp) -> Result<Self, Fault> {
        let secret = |name: &str| answer[name].as_str().filter(|text| !text.is_empty()).map(|text| SecretString::from(text.to_owned()));
        // Some providers send the number as a string.
        let seconds = answer["expires_in"].as_i64().or_else(|| answer["expires_in"].as_str()?.parse().ok());
        Ok(Self {
            access_token: secret("access_token").ok_or_else(|| Fault::Senseless("the token response has no access token".to_owned()))?,
            refresh_token: secret("refresh_token"),
            id_token: secret("id_token"),
            expires_at: seconds
                .filter(|seconds| (0..=31_536_000).contains(seconds))
                .map(|seconds| after(now, SignedDuration::from_secs(seconds))),
            scope: answer["scope"].as_str().map(str::to_owned),
        })
    }
}
