//! An OAuth provider, as an administrator configures it.

use crypto::seal;
use deserr::Deserr;
use secrecy::SecretString;
use utoipa::ToSchema;

use crate::project::setting::{Deployment, HIDDEN_SECRET, InvalidSetting, check_url, invalid};
use crate::project::{OAuthProvider, secret_owner};
use crate::provider::catalog;

/// The configuration of an OAuth provider.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProviderInput {
    /// The id in the catalog, or 1 to 63 characters of `a-z`, `0-9`, `-` and `_` for another OpenID
    /// issuer.
    pub id: String,
    /// Must be `standard`: shared client ids are not available.
    #[deserr(default, rename = "type")]
    pub r#type: Option<String>,
    /// The client id registered with the provider.
    #[deserr(default)]
    pub client_id: Option<String>,
    /// The client secret, which is never returned. If absent, or sent back as it was read, the
    /// existing secret is kept, provided the client id, issuer and tenant do not change.
    #[deserr(default)]
    pub client_secret: Option<String>,
    /// The URL of an OpenID issuer that is not in the catalog.
    #[deserr(default)]
    pub issuer: Option<String>,
    /// The authorization endpoint, in place of the one in the catalog or in the issuer's metadata.
    /// If absent, the existing setting is kept.
    #[deserr(default)]
    pub authorization_endpoint: Option<String>,
    /// The configuration id of Facebook Login for Business.
    #[deserr(default)]
    pub facebook_config_id: Option<String>,
    /// The Microsoft tenant; `common` if absent.
    #[deserr(default)]
    pub microsoft_tenant_id: Option<String>,
}

const MAX_PROVIDERS: usize = 50;

pub(crate) fn check_providers(
    inputs: Vec<ProviderInput>,
    old: &[OAuthProvider],
    owner: &str,
    deployment: &Deployment<'_>,
) -> Result<Vec<OAuthProvider>, InvalidSetting> {
    if inputs.len() > MAX_PROVIDERS {
        return Err(invalid("config.oauth_providers", "must have at most 50 providers"));
    }
    let mut providers: Vec<OAuthProvider> = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.into_iter().enumerate() {
        let path = |field: &str| format!("config.oauth_providers[{index}].{field}");
        if providers.iter().any(|provider| provider.id == input.id) {
            return Err(invalid(path("id"), "occurs twice"));
        }
        let old = old.iter().find(|provider| provider.id == input.id);
        providers.push(input.check(old, owner, deployment, &path)?);
    }
    Ok(providers)
}

impl ProviderInput {
    pub(crate) fn check(
        self,
        old: Option<&OAuthProvider>,
        owner: &str,
        deployment: &Deployment<'_>,
        path: &impl Fn(&str) -> String,
    ) -> Result<OAuthProvider, InvalidSetting> {
        let is_name = !self.id.is_empty()
            && self.id.len() <= 63
            && self.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b));
        if !is_name {
            return Err(invalid(path("id"), "must be 1 to 63 characters from a-z, 0-9, - and _"));
        }
        if self.r#type.as_deref().is_some_and(|kind| kind != "standard") {
            return Err(invalid(path("type"), "must be standard: shared client ids are not available"));
        }
        let issuer = self.issuer.or_else(|| old.and_then(|old| old.issuer.clone()));
        let authorization_endpoint = self.authorization_endpoint.or_else(|| old.and_then(|old| old.authorization_endpoint.clone()));
        if catalog::find(&self.id).is_none() {
            check_url(&path("issuer"), issuer.as_deref().unwrap_or_default()).map_err(|_| {
                invalid(
                    path("issuer"),
                    "must be the http or https URL of an OpenID issuer, because this id is not in the catalog of providers",
                )
            })?;
        }
        if let Some(endpoint) = &authorization_endpoint {
            check_url(&path("authorization_endpoint"), endpoint)?;
        }
        let client_id = self.client_id.or_else(|| old.map(|old| old.client_id.clone())).filter(|id| !id.is_empty());
        let client_id = client_id.ok_or_else(|| invalid(path("client_id"), "is required"))?;
        let given = self.client_secret.filter(|secret| !secret.is_empty() && secret != HIDDEN_SECRET);
        // The secret is kept only if it would be sent to the same provider, so that nobody can
        // have it sent elsewhere.
        let is_same = |old: &&OAuthProvider| {
            old.client_id == client_id && old.issuer == issuer && old.microsoft_tenant_id == self.microsoft_tenant_id
        };
        let client_secret = match (given, old, old.filter(is_same)) {
            (Some(secret), ..) => seal_secret(&self.id, owner, secret, deployment)
                .map_err(|_| invalid(path("client_secret"), "cannot be encrypted, because this function has no deployment secret"))?,
            (None, _, Some(same)) => same.client_secret.clone(),
            (None, Some(_), None) => {
                return Err(invalid(path("client_secret"), "is required when the client id, issuer or tenant changes"));
            }
            (None, None, None) => return Err(invalid(path("client_secret"), "is required")),
        };
        Ok(OAuthProvider {
            client_id,
            client_secret,
            id: self.id,
            issuer,
            authorization_endpoint,
            facebook_config_id: self.facebook_config_id,
            microsoft_tenant_id: self.microsoft_tenant_id,
        })
    }
}

fn seal_secret(id: &str, owner: &str, secret: String, deployment: &Deployment<'_>) -> Result<seal::Sealed, seal::Error> {
    deployment.sealer.seal(deployment.entropy, &secret_owner(owner, id), &SecretString::from(secret))
}
