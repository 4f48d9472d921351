//! OAuth providers in requests of administrators.

use crypto::seal;
use deserr::Deserr;
use secrecy::SecretString;
use utoipa::ToSchema;

use crate::project::apple_bundle::{AppleBundle, named};
use crate::project::{OAuthProvider, ProjectConfig, secret_owner};
use crate::provider::catalog;
use crate::provider::shared::shareable;
use crate::setting::{Deployment, HIDDEN_SECRET, SettingRefusal, check_url, invalid};

/// The configuration of an OAuth provider.
#[wire::optional]
#[derive(Clone, Default, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProviderInput {
    /// The id in the catalog, or 1 to 63 characters of `a-z`, `0-9`, `-` and `_` for another OpenID
    /// issuer.
    pub id: String,
    /// `standard`, or `shared` to use the deployment's client, if the deployment has a client for
    /// this provider. Default: `standard`.
    #[deserr(rename = "type")]
    #[schema(value_type = Option<String>)]
    pub r#type: Option<ProviderKind>,
    /// The client id registered with the provider. If absent, the existing id is kept.
    pub client_id: Option<String>,
    /// The client secret, which is never returned by the API. If the secret is absent, or is sent
    /// back as it was read, the existing secret is kept, provided the client id, issuer and tenant
    /// do not change.
    pub client_secret: Option<String>,
    /// The URL of an OpenID issuer outside the catalog. If absent, the existing URL is kept.
    pub issuer: Option<String>,
    /// The authorization endpoint to use instead of the one in the catalog or in the issuer's
    /// metadata. If absent, the existing setting is kept.
    pub authorization_endpoint: Option<String>,
    /// The configuration id of Facebook Login for Business; an empty value removes it. If the field
    /// is absent, replacing the list of providers removes the id, whereas changing a single
    /// provider keeps it.
    pub facebook_config_id: Option<String>,
    /// The Microsoft tenant; `common` if empty. If the field is absent, replacing the list of
    /// providers sets `common`, whereas changing a single provider keeps the tenant.
    pub microsoft_tenant_id: Option<String>,
    /// The bundle ids of apps with native Sign in with Apple, at most 20. If the field is absent,
    /// the existing ids are kept.
    #[schema(value_type = Option<Vec<String>>)]
    pub apple_bundle_ids: Option<Vec<AppleBundle>>,
}

/// Which client at the provider is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr)]
#[deserr(rename_all = lowercase)]
pub enum ProviderKind {
    /// The project's client.
    Standard,
    /// The deployment's client.
    Shared,
}

const MAX_PROVIDERS: usize = 50;

pub(crate) fn check_providers(
    inputs: Vec<ProviderInput>,
    old: &[OAuthProvider],
    owner: &str,
    deployment: &Deployment<'_>,
) -> Result<Vec<OAuthProvider>, SettingRefusal> {
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

/// The configuration key of a provider, for [`Levels`](crate::project::config::Levels).
pub fn key(id: &str) -> String {
    format!("auth.oauth.providers.{id}")
}

/// Adds a provider to a project, or changes the provider with this id. All other providers and
/// their secrets remain unchanged. Errors contain the path of the invalid field.
pub fn set_provider(
    input: ProviderInput,
    config: &mut ProjectConfig,
    owner: &str,
    deployment: &Deployment<'_>,
) -> Result<(), SettingRefusal> {
    let all = &mut config.oauth_providers;
    let place = all.iter().position(|provider| provider.id == input.id);
    if place.is_none() && all.len() >= MAX_PROVIDERS {
        return Err(invalid("id", "must be the id of an existing provider, because a project can have at most 50"));
    }
    let idle = config.idle_oauth_providers.iter().find(|provider| provider.id == input.id);
    let old = place.map(|place| &all[place]).or(idle).cloned();
    let input = match &old {
        Some(old) if input.r#type != Some(ProviderKind::Shared) => input.keeping(old),
        _ => input,
    };
    let provider = input.check(old.as_ref(), owner, deployment, &|field: &str| field.to_owned())?;
    config.idle_oauth_providers.retain(|idle| idle.id != provider.id);
    match place {
        Some(place) => all[place] = provider,
        None => all.push(provider),
    }
    config.record_registrations("id", old.as_slice())
}

/// Removes the provider with this id, including its secret, from a project; `false` if there is no
/// such provider.
pub fn remove_provider(id: &str, config: &mut ProjectConfig) -> Result<bool, SettingRefusal> {
    let mut removed: Vec<OAuthProvider> = config.oauth_providers.extract_if(.., |provider| provider.id == id).collect();
    removed.extend(config.idle_oauth_providers.extract_if(.., |provider| provider.id == id));
    config.record_registrations("provider_id", &removed)?;
    Ok(!removed.is_empty())
}

impl ProviderInput {
    /// Whether the input has the type `shared` for a provider that cannot be shared.
    pub fn is_unshareable(&self) -> bool {
        self.r#type == Some(ProviderKind::Shared) && shareable(&self.id).is_none()
    }

    /// The input, completed with the existing values of fields that replacing the list of providers
    /// would clear. Setting only a new secret therefore does not open a single-tenant app to all
    /// tenants.
    fn keeping(self, old: &OAuthProvider) -> Self {
        Self {
            facebook_config_id: self.facebook_config_id.or_else(|| old.facebook_config_id.clone()),
            microsoft_tenant_id: self.microsoft_tenant_id.or_else(|| old.microsoft_tenant_id.clone()),
            ..self
        }
    }

    pub(crate) fn check(
        self,
        old: Option<&OAuthProvider>,
        owner: &str,
        deployment: &Deployment<'_>,
        path: &impl Fn(&str) -> String,
    ) -> Result<OAuthProvider, SettingRefusal> {
        let is_name = !self.id.is_empty()
            && self.id.len() <= 63
            && self.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b));
        if !is_name {
            return Err(invalid(path("id"), "must be 1 to 63 characters from a-z, 0-9, - and _"));
        }
        if self.r#type == Some(ProviderKind::Shared) {
            return self.check_shared(deployment, path);
        }
        let facebook_config_id = self.facebook_config_id.filter(|id| !id.is_empty());
        let microsoft_tenant_id = self.microsoft_tenant_id.filter(|id| !id.is_empty());
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
        let old_bundles = old.map(|old| old.apple_bundles.clone()).unwrap_or_default();
        let apple_bundles = match self.apple_bundle_ids {
            Some(bundles) => named(&self.id, bundles, &old_bundles).map_err(|wrong| invalid(path("apple_bundle_ids"), wrong))?,
            None => old_bundles,
        };
        let old_secret = old.and_then(|old| Some((old, old.client_secret.as_ref()?)));
        let client_id = self.client_id.or_else(|| old.map(|old| old.client_id.clone())).filter(|id| !id.is_empty());
        let client_id = client_id.ok_or_else(|| invalid(path("client_id"), "is required"))?;
        let given = self.client_secret.filter(|secret| !secret.is_empty() && secret != HIDDEN_SECRET);
        // The secret is kept only if it would be sent to the same provider, so that nobody can have
        // it sent elsewhere.
        let is_same = |(old, _): &(&OAuthProvider, &seal::SealedText)| {
            old.client_id == client_id && old.issuer == issuer && old.microsoft_tenant_id == microsoft_tenant_id
        };
        let client_secret = match (given, old_secret, old_secret.filter(is_same)) {
            (Some(secret), ..) => seal_secret(&self.id, owner, secret, deployment)
                .map_err(|_| invalid(path("client_secret"), "cannot be encrypted, because this function has no GATELET_SECRET"))?,
            (None, _, Some((_, same))) => same.clone(),
            (None, Some(_), None) => {
                return Err(invalid(path("client_secret"), "is required when the client id, issuer or tenant changes"));
            }
            (None, None, None) => return Err(invalid(path("client_secret"), "is required")),
        };
        Ok(OAuthProvider {
            client_id,
            client_secret: Some(client_secret),
            id: self.id,
            issuer,
            authorization_endpoint,
            facebook_config_id,
            microsoft_tenant_id,
            apple_bundles,
        })
    }

    /// A provider with the deployment's client. Fails if the deployment does not have a client for
    /// the provider, or if the input sets a field other than the id and the type.
    fn check_shared(self, deployment: &Deployment<'_>, path: &impl Fn(&str) -> String) -> Result<OAuthProvider, SettingRefusal> {
        let Some(shared) = shareable(&self.id) else {
            return Err(invalid(path("type"), "cannot be shared: only google, github, microsoft and spotify can"));
        };
        if deployment.shared.get(&self.id).is_none() {
            let message = format!(
                "cannot be shared: this deployment has no client for {}; its operator can set one up ({})",
                self.id, shared.id_variable
            );
            return Err(invalid(path("type"), message));
        }
        let others = [
            ("client_id", self.client_id),
            ("client_secret", self.client_secret),
            ("issuer", self.issuer),
            ("authorization_endpoint", self.authorization_endpoint),
            ("facebook_config_id", self.facebook_config_id),
            ("microsoft_tenant_id", self.microsoft_tenant_id),
        ];
        if self.apple_bundle_ids.is_some_and(|bundles| !bundles.is_empty()) {
            return Err(invalid(path("apple_bundle_ids"), "must be absent, because only the provider apple has bundle ids"));
        }
        if let Some((name, _)) = others.into_iter().find(|(_, value)| value.as_ref().is_some_and(|text| !text.is_empty())) {
            return Err(invalid(path(name), "must be absent, because the deployment's client is used"));
        }
        Ok(OAuthProvider { id: self.id, ..OAuthProvider::default() })
    }
}

fn seal_secret(id: &str, owner: &str, secret: String, deployment: &Deployment<'_>) -> Result<seal::SealedText, seal::Error> {
    deployment.sealer.seal(deployment.entropy, &secret_owner(owner, id), &SecretString::from(secret))
}
