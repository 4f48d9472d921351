//! The first half of a flow: what the app asked for, and the URL that the user is sent to.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use crypto::seal::Sealed;
use jiff::{SignedDuration, Timestamp};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use url::Url;
use wire::id::{ProjectId, SessionId, UserId};

use crate::project::OAuthProvider;
use crate::project::redirect::RedirectUrl;
use crate::provider::catalog::{self, OPENID_EXTRA, OPENID_SCOPE, TENANT};

/// How long a user may take at the provider.
pub const LIFE: SignedDuration = SignedDuration::from_mins(10);

/// Name of the cookie that ties a flow to the browser it began in, before its state.
pub const COOKIE_PREFIX: &str = "gatelet-oauth-inner-";

/// What an authorization is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    Authenticate,
    Link,
}

/// How the user gets to the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResponseMode {
    Json,
    Redirect,
}

/// What is remembered under the digest of the inner state until the provider sends the user back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Authorization {
    pub project_id: ProjectId,
    pub provider_id: String,
    pub purpose: Purpose,
    pub response_mode: ResponseMode,
    pub redirect_uri: RedirectUrl,
    /// The app's own state, given back to it.
    pub state: String,
    /// The app's PKCE challenge (RFC 7636), method S256.
    pub code_challenge: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_redirect_url: Option<RedirectUrl>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_callback_redirect_url: Option<RedirectUrl>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_scope: Option<String>,
    /// The user to link to, or the anonymous one to upgrade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<UserId>,
    /// Its credential epoch when the flow began.
    #[serde(default)]
    pub epoch: u64,
    /// The session of its access token, which must still live when the flow ends; absent on flows of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_in: Option<SessionId>,
    /// Our own PKCE verifier towards the provider; sealed, as it is needed in clear once more.
    pub verifier: Sealed,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub expires_at: Timestamp,
}

/// The S256 challenge of a verifier (RFC 7636 §4.2).
pub fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

/// A setting of the provider that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the provider's authorization endpoint is not a URL")]
pub struct InvalidEndpoint;

/// The parameters of a request to a provider that differ from flow to flow.
pub struct ProviderRequest<'a> {
    pub provider: &'a OAuthProvider,
    /// Where the provider authorizes: [`known_endpoint`], or what its issuer publishes.
    pub endpoint: &'a str,
    /// Where the provider sends the user back.
    pub callback: &'a str,
    pub state: &'a str,
    pub challenge: &'a str,
    pub nonce: &'a str,
    pub extra_scope: Option<&'a str>,
}

/// Where a provider authorizes, when that is known without asking it.
pub fn known_endpoint(provider: &OAuthProvider) -> Option<&str> {
    let known = || catalog::find(&provider.id).map(|known| known.authorization_endpoint);
    provider.authorization_endpoint.as_deref().or_else(known)
}

impl ProviderRequest<'_> {
    /// The URL that the user is sent to (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1).
    pub fn url(&self) -> Result<Url, InvalidEndpoint> {
        let known = catalog::find(&self.provider.id);
        let (scope, extra) = known.map_or((OPENID_SCOPE, OPENID_EXTRA), |known| (known.scope, known.extra));
        let tenant = self.provider.microsoft_tenant_id.as_deref().unwrap_or("common");
        let mut url = Url::parse(&self.endpoint.replace(TENANT, tenant)).map_err(|_| InvalidEndpoint)?;
        let scope = [Some(scope), self.extra_scope].into_iter().flatten().collect::<Vec<_>>().join(" ");
        url.query_pairs_mut()
            .append_pair("client_id", &self.provider.client_id)
            .append_pair("scope", &scope)
            .append_pair("response_type", "code")
            .append_pair("redirect_uri", self.callback)
            .append_pair("code_challenge_method", "S256")
            .append_pair("code_challenge", self.challenge)
            .append_pair("state", self.state)
            .extend_pairs(extra);
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
    #[test]
    fn the_challenge_is_that_of_rfc_7636_appendix_b() {
        let challenge = super::challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
