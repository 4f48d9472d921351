//! The first half of an OAuth flow: the app's request, and the URL at the provider to which the
//! user is sent.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use crypto::seal::SealedText;
use jiff::{SignedDuration, Timestamp};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use url::Url;
use wire::id::{ProjectId, SessionId, UserId};

use crate::project::OAuthProvider;
use crate::project::redirect::RedirectUrl;
use crate::provider::catalog::scopes::{OFFLINE_ACCESS, joined};
use crate::provider::catalog::{self, OPENID_OFFLINE, OPENID_SCOPE, OfflineAccess, Parameters, TENANT};
use crate::provider::registration::Registration;

/// How long a user may take to authorize at the provider.
pub const LIFE: SignedDuration = SignedDuration::from_mins(10);
/// How long an expired flow and its cookie are kept. Users who return late are then sent back to
/// the app with an error, instead of being stranded on a page of the API.
pub const MEMORY: SignedDuration = SignedDuration::from_mins(50);

/// The prefix of a flow's cookie name, followed by part of the digest of the inner state. The
/// cookie binds the flow to the browser that began it.
pub const COOKIE_PREFIX: &str = "gatelet-oauth-inner-";

/// The purpose of an authorization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Signing in or signing up.
    Authenticate,
    /// Linking the provider account to the signed-in user.
    Link,
}

/// How the app receives the provider's URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResponseMode {
    /// In the response body.
    Json,
    /// As a redirect.
    Redirect,
}

/// The data of a flow, which is stored until the provider redirects the user back. The item's key
/// contains the digest of the inner state, which is the `state` parameter sent to the provider.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Authorization {
    /// The project.
    pub project_id: ProjectId,
    /// The provider.
    pub provider_id: String,
    /// The registration of the provider when the flow began. The provider's code is sent only to
    /// the issuer in this registration. Absent in flows from earlier versions.
    pub registration: Option<Registration>,
    /// The purpose of the flow.
    pub purpose: Purpose,
    /// How the app receives the provider's URL.
    pub response_mode: ResponseMode,
    /// Where the user is redirected at the end of the flow, with the authorization code.
    pub redirect_uri: RedirectUrl,
    /// The app's `state`, which is returned to the app.
    pub state: String,
    /// The app's PKCE challenge (RFC 7636), method S256.
    pub code_challenge: String,
    /// Where the user is redirected if the flow fails and `redirect_uri` is no longer trusted.
    pub error_redirect_url: Option<RedirectUrl>,
    /// Where the app redirects the user after the callback.
    pub after_callback_redirect_url: Option<RedirectUrl>,
    /// The scopes that the app requested in addition to the scopes for signing in.
    pub provider_scope: Option<String>,
    /// The user to whom the account is linked, or the anonymous user to upgrade. Absent in a flow
    /// without an access token, and if an ordinary user starts a sign-in while signed in.
    pub user_id: Option<UserId>,
    /// The user's credential epoch when the flow began; 0 in flows without a user.
    #[serde(default)]
    pub epoch: u64,
    /// The session of the user's access token, which must still be live at the end of the flow.
    /// Absent in flows without a user and in flows from earlier versions.
    pub begun_in: Option<SessionId>,
    /// The PKCE verifier that this service sends to the provider. The verifier is sealed instead of
    /// hashed, because the token request must contain it.
    pub verifier: SealedText,
    /// When the flow expires.
    pub expires_at: Timestamp,
}

/// The S256 challenge of a verifier (RFC 7636 §4.2).
pub fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

/// The nonce in the ID token if a native app sent only a digest of its `nonce` to the provider. The
/// digest is SHA-256 in hexadecimal digits, as in the examples of Apple and Firebase.
pub fn native_nonce(nonce: &str) -> String {
    base16ct::lower::encode_string(digest(&SHA256, nonce.as_bytes()).as_ref())
}

/// Whether a string can be an S256 challenge.
pub fn is_challenge(text: &str) -> bool {
    text.len() == 43 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
}

/// The authorization endpoint is not a URL.
#[derive(Debug, thiserror::Error)]
#[error("the provider's authorization endpoint is not a URL")]
pub struct EndpointError;

/// The parts of the URL that sends a user to a provider.
pub struct ProviderRequest<'a> {
    /// The provider's configuration.
    pub provider: &'a OAuthProvider,
    /// The client id, which belongs to the project or to the deployment.
    pub client_id: &'a str,
    /// The provider's authorization endpoint: The endpoint from [`known_endpoint`], or the endpoint
    /// published by the issuer.
    pub endpoint: &'a str,
    /// Where the provider redirects the user.
    pub callback: &'a str,
    /// The inner state.
    pub state: &'a str,
    /// The PKCE challenge.
    pub challenge: &'a str,
    /// The nonce for the ID token.
    pub nonce: &'a str,
    /// The requested scopes and parameters.
    pub asked: &'a RequestedAccess,
}

/// The scopes and the parameters of a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedAccess {
    /// The scopes, separated by spaces.
    pub scope: String,
    /// Parameters that are not in RFC 6749.
    pub parameters: Parameters,
}

impl RequestedAccess {
    /// The access that a flow requests from a provider. `has_offline_access` indicates whether an
    /// issuer that is not in the catalog lists the scope `offline_access`; it has no effect for a
    /// provider in the catalog.
    ///
    /// A flow that links an account or requests additional scopes also requests a refresh token, if
    /// the provider has a way to request one. The provider may then ask for consent again. A plain
    /// sign-in ([`is_plain`]) does not request a refresh token, because some providers would then
    /// require the consent of an administrator, and others would ask the user at each sign-in.
    pub fn new(provider_id: &str, purpose: Purpose, extra_scope: Option<&str>, has_offline_access: bool) -> Self {
        let extra = extra_scope.unwrap_or_default().trim();
        // An app can request the scope even if the issuer does not list it.
        let asks_offline = || extra.split(' ').any(|scope| scope == OFFLINE_ACCESS);
        let (scope, sign_in, offline) = match catalog::find(provider_id) {
            Some(known) => (known.scope, known.sign_in, known.offline),
            None if has_offline_access || asks_offline() => (OPENID_SCOPE, &[][..], OPENID_OFFLINE),
            None => (OPENID_SCOPE, &[][..], OfflineAccess::UNASKED),
        };
        if is_plain(purpose, extra_scope) {
            return Self { scope: scope.to_owned(), parameters: sign_in };
        }
        Self { scope: joined([scope, offline.scope, extra]), parameters: offline.parameters }
    }
}

/// Whether a flow only signs the user in, without requesting additional scopes or a refresh token.
pub fn is_plain(purpose: Purpose, extra_scope: Option<&str>) -> bool {
    purpose == Purpose::Authenticate && extra_scope.is_none_or(|extra| extra.trim().is_empty())
}

/// The configured authorization endpoint of the provider, or the one in the catalog. `None` if the
/// endpoint must be discovered from the issuer's metadata.
pub fn known_endpoint(provider: &OAuthProvider) -> Option<&str> {
    let known = || catalog::find(&provider.id).map(|known| known.authorization_endpoint);
    provider.authorization_endpoint.as_deref().or_else(known)
}

/// Whether the flow uses PKCE, which it always does unless the provider refuses PKCE.
pub fn uses_pkce(provider_id: &str) -> bool {
    catalog::find(provider_id).is_none_or(|known| known.takes_pkce)
}

impl ProviderRequest<'_> {
    /// The URL to which the user is sent (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core
    /// §3.1.2.1).
    pub fn url(&self) -> Result<Url, EndpointError> {
        let tenant = self.provider.microsoft_tenant_id.as_deref().unwrap_or("common");
        let mut url = Url::parse(&self.endpoint.replace(TENANT, tenant)).map_err(|_| EndpointError)?;
        let scope = &self.asked.scope;
        url.query_pairs_mut()
            .append_pair("client_id", self.client_id)
            .append_pair("scope", scope)
            .append_pair("response_type", "code")
            .append_pair("redirect_uri", self.callback);
        if uses_pkce(&self.provider.id) {
            url.query_pairs_mut().append_pair("code_challenge_method", "S256").append_pair("code_challenge", self.challenge);
        }
        url.query_pairs_mut().append_pair("state", self.state).extend_pairs(self.asked.parameters);
        if scope.split(' ').any(|scope| scope == "openid") {
            url.query_pairs_mut().append_pair("nonce", self.nonce);
        }
        if let Some(config) = &self.provider.facebook_config_id {
            url.query_pairs_mut().append_pair("config_id", config);
        }
        Ok(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Consent and offline access are requested only if an app will call the provider's API.
    #[test]
    fn a_plain_sign_in_asks_for_nothing_more() {
        let sign_in = |id: &str| RequestedAccess::new(id, Purpose::Authenticate, None, true);
        for id in catalog::ids().chain(["acme"]) {
            let asked = sign_in(id);
            assert!(!asked.parameters.iter().any(|(name, value)| *value == "consent" || *name == "access_type"), "{id}");
            assert!(!asked.scope.contains("offline"), "{id}: {}", asked.scope);
            assert_eq!(asked, RequestedAccess::new(id, Purpose::Authenticate, Some(" "), false), "{id}");
            let more = RequestedAccess::new(id, Purpose::Authenticate, Some("more"), false);
            assert_eq!(more.parameters, RequestedAccess::new(id, Purpose::Link, None, false).parameters, "{id}");
            assert!(more.scope.starts_with(&asked.scope) && more.scope.ends_with(" more"), "{id}: {}", more.scope);
        }
        assert_eq!(sign_in("discord").parameters, [("prompt", "none")]);
        assert_eq!(sign_in("apple").parameters, [("response_mode", "form_post")]);
        assert_eq!(
            RequestedAccess::new("google", Purpose::Link, None, false).parameters,
            [("access_type", "offline"), ("prompt", "consent")]
        );
        let microsoft = RequestedAccess::new("microsoft", Purpose::Link, Some("Mail.Read offline_access"), false);
        assert_eq!((microsoft.scope.as_str(), microsoft.parameters), ("openid email profile User.Read offline_access Mail.Read", &[][..]));
        let acme = |has_offline_access| RequestedAccess::new("acme", Purpose::Link, None, has_offline_access);
        assert_eq!(
            (acme(true).scope.as_str(), acme(true).parameters),
            ("openid email profile offline_access", &[("prompt", "consent")][..])
        );
        let own = RequestedAccess::new("acme", Purpose::Authenticate, Some("offline_access"), false);
        assert_eq!(own, acme(true), "the app itself asks for offline_access");
        assert_eq!((acme(false).scope.as_str(), acme(false).parameters), ("openid email profile", &[][..]));
    }

    #[test]
    fn the_challenge_matches_rfc_7636_appendix_b() {
        let challenge = challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
