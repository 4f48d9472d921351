//! A provider as an administrator sets it up.

use crypto::seal;
use deserr::Deserr;
use secrecy::SecretString;
use utoipa::ToSchema;

use crate::project::setting::{Deployment, InvalidSetting, check_url, invalid};
use crate::project::{OAuthProvider, secret_owner};
use crate::provider::catalog;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProviderInput {
    pub id: String,
    /// `standard`: there are no shared client ids here.
    #[deserr(default, rename = "type")]
    pub r#type: Option<String>,
    #[deserr(default)]
    pub client_id: Option<String>,
    #[deserr(default)]
    pub client_secret: Option<String>,
    #[deserr(default)]
    pub issuer: Option<String>,
    #[deserr(default)]
    pub authorization_endpoint: Option<String>,
    #[deserr(default)]
    pub facebook_config_id: Option<String>,
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
        return Err(invalid("config.oauth_providers", "must be at most 50"));
    }
    let mut providers: Vec<OAuthProvider> = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.into_iter().enumerate() {
        let path = |field: &str| format!("config.oauth_providers[{index}].{field}");
        if providers.iter().any(|provider| provider.id == input.id) {
            return Err(invalid(path("id"), "is named twice"));
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
            return Err(invalid(path("id"), "must be 1 to 63 of a-z, 0-9, - and _"));
        }
        if self.r#type.as_deref().is_some_and(|kind| kind != "standard") {
            return Err(invalid(path("type"), "must be standard: there are no shared client ids"));
        }
        let issuer = self.issuer.or_else(|| old.and_then(|old| old.issuer.clone()));
        let authorization_endpoint = self.authorization_endpoint.or_else(|| old.and_then(|old| old.authorization_endpoint.clone()));
        if catalog::find(&self.id).is_none() {
            check_url(&path("issuer"), issuer.as_deref().unwrap_or_default()).map_err(|_| {
                invalid(path("issuer"), "must be the http or https URL of an OpenID issuer, as this id is not in the catalog")
            })?;
        }
        if let Some(endpoint) = &authorization_endpoint {
            check_url(&path("authorization_endpoint"), endpoint)?;
        }
        let client_id = self.client_id.or_else(|| old.map(|old| old.client_id.clone())).filter(|id| !id.is_empty());
        let client_secret = match (self.client_secret.filter(|secret| !secret.is_empty()), old) {
            (Some(secret), _) => {
                Some(seal_secret(&self.id, owner, secret, deployment).map_err(|_| invalid(path("client_secret"), "cannot be sealed"))?)
            }
            (None, old) => old.map(|old| old.client_secret.clone()),
        };
        Ok(OAuthProvider {
            client_id: client_id.ok_or_else(|| invalid(path("client_id"), "is required"))?,
            client_secret: client_secret.ok_or_else(|| invalid(path("client_secret"), "is required"))?,
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
