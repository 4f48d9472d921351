//! Providers, sign-up rules and trusted domains in a configuration, and the mail server.

use std::collections::BTreeMap;

use deserr::{DeserializeError, Deserr, ErrorKind, IntoValue, Map as _, ValueKind, ValuePointerRef, take_cf_content};
use wire::problem::Problems;

use crate::project::apple_bundle::AppleBundle;
use crate::project::config::paths::{DOMAINS, PROVIDERS, RULES, SERVER};
use crate::project::config_patch::DomainInput;
use crate::project::email_input::EmailInput;
use crate::project::provider_input::{ProviderInput, ProviderKind};
use crate::provider::catalog;
use crate::sign_up::rule::{ActionType, RuleAction, SignUpRule};

/// Defines parts of a configuration. A missing key gets the value after its `=` or, without a `=`,
/// the default of its type.
macro_rules! parts {
    (@default) => { Default::default() };
    (@default $default:tt) => { $default };
    ($($(#[$of_part:meta])* $name:ident { $($(#[$of_key:meta])* $key:ident: $type:ty $(= $default:tt)?,)* })*) => {$(
        $(#[$of_part])*
        #[derive(deserr::Deserr)]
        #[deserr(deny_unknown_fields, rename_all = camelCase)]
        pub(crate) struct $name { $($(#[$of_key])* #[deserr(default $(= $default)?)] pub(crate) $key: $type,)* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($key: parts!(@default $($default)?),)* }
            }
        }
    )*};
}

pub(crate) use parts;

/// Values by id. The type is not a map, because deserr skips invalid values of maps.
pub(crate) struct Entries<T>(pub(crate) BTreeMap<String, T>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Deserr<E>, E: DeserializeError> Deserr<E> for Entries<T> {
    fn deserialize_from_value<V: IntoValue>(value: deserr::Value<V>, location: ValuePointerRef<'_>) -> Result<Self, E> {
        let deserr::Value::Map(map) = value else {
            let kind = ErrorKind::IncorrectValueKind { actual: value, accepted: &[ValueKind::Map] };
            return Err(take_cf_content(E::error(None, kind, location)));
        };
        let (mut entries, mut wrong) = (BTreeMap::new(), None);
        for (id, value) in map.into_iter() {
            let location = location.push_key(&id);
            match T::deserialize_from_value(value.into_value(), location) {
                Ok(entry) => drop(entries.insert(id, entry)),
                Err(error) => wrong = Some(take_cf_content(E::merge(wrong, error, location))),
            }
        }
        wrong.map_or(Ok(Self(entries)), Err)
    }
}

#[wire::optional]
#[derive(Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Provider {
    #[deserr(rename = "type")]
    kind: Option<String>,
    is_shared: Option<bool>,
    allow_sign_in: Option<bool>,
    allow_connected_accounts: Option<bool>,
    client_id: Option<String>,
    client_secret: Option<String>,
    issuer: Option<String>,
    authorization_endpoint: Option<String>,
    facebook_config_id: Option<String>,
    microsoft_tenant_id: Option<String>,
    #[deserr(default)]
    apple_bundles: Entries<Bundle>,
}

/// An app that offers native Sign in with Apple.
#[wire::optional]
#[derive(Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Bundle {
    bundle_id: Option<String>,
}

impl Provider {
    /// Whether the provider has a client: the deployment's client or a client of the project, which
    /// needs an id. Without a client, the provider cannot be used.
    pub(crate) fn is_registered(&self) -> bool {
        self.is_shared == Some(true) || self.client_id.as_ref().is_some_and(|id| !id.is_empty())
    }

    /// Whether users can sign in with the provider. Users cannot sign in with a provider without a
    /// type, such as a provider with values in the environment but no definition in the branch.
    pub(crate) fn is_offered(&self) -> bool {
        self.kind.is_some() && self.allow_sign_in != Some(false)
    }

    pub(crate) fn into_input(self, id: String) -> Result<ProviderInput, Problems> {
        let wrong = |name: &str, message: &str| Err(Problems::one(&format!("{PROVIDERS}.{id}.{name}"), message));
        let expected = if catalog::find(&id).is_some() { id.as_str() } else { CUSTOM_PROVIDER };
        if self.kind.as_deref().is_some_and(|kind| kind != expected) {
            return wrong("type", &format!("must be {expected}"));
        }
        if self.allow_connected_accounts == Some(false) {
            return wrong("allowConnectedAccounts", "must be true: to disable the provider, set allowSignIn to false");
        }
        if self.is_shared == Some(true) {
            // The levels may still contain the project's client, which is ignored while `isShared`
            // is true.
            return Ok(ProviderInput { id, r#type: Some(ProviderKind::Shared), ..ProviderInput::default() });
        }
        let bundles = format!("{PROVIDERS}.{id}.appleBundles");
        let bundle = |(name, Bundle { bundle_id }): (String, Bundle)| {
            let id = required(bundle_id, &bundles, &name, "bundleId")?;
            Ok(AppleBundle { name: Some(name), id })
        };
        let apple_bundle_ids = self.apple_bundles.0.into_iter().map(bundle).collect::<Result<_, Problems>>()?;
        let Self { client_id, client_secret, issuer, authorization_endpoint, facebook_config_id, microsoft_tenant_id, .. } = self;
        Ok(ProviderInput {
            id,
            r#type: None,
            client_id,
            client_secret,
            issuer,
            authorization_endpoint,
            facebook_config_id,
            microsoft_tenant_id,
            apple_bundle_ids: Some(apple_bundle_ids),
        })
    }
}

parts! {
    Rule {
        enabled: bool = true,
        display_name: Option<String>,
        priority: u32,
        condition: Option<String>,
        action: Action,
    }
}

/// The action of a rule; a rule without an action allows the sign-up.
#[wire::optional]
#[derive(Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
pub(crate) struct Action {
    #[deserr(default = ActionType::Allow, rename = "type")]
    kind: ActionType,
    message: Option<String>,
}

impl Default for Action {
    fn default() -> Self {
        Self { kind: ActionType::Allow, message: None }
    }
}

impl Rule {
    /// Whether the rule has a condition. A rule without a condition never matches.
    pub(crate) fn has_condition(&self) -> bool {
        self.condition.is_some()
    }

    pub(crate) fn into_rule(self, id: String) -> Result<SignUpRule, Problems> {
        let Self { enabled, display_name, priority, condition, action } = self;
        let condition = required(condition, RULES, &id, "condition")?;
        let action = RuleAction { r#type: action.kind, message: action.message };
        Ok(SignUpRule { id, enabled, display_name, priority, condition, action })
    }
}

fn required<T>(value: Option<T>, record: &str, id: &str, field: &str) -> Result<T, Problems> {
    value.ok_or_else(|| Problems::one(&format!("{record}.{id}.{field}"), "is required"))
}

parts! {
    Domain {
        base_url: Option<String>,
        handler_path: Option<String>,
    }
}

impl Domain {
    pub(crate) fn into_input(self, id: &str) -> Result<DomainInput, Problems> {
        Ok(DomainInput { domain: required(self.base_url, DOMAINS, id, "baseUrl")?, handler_path: self.handler_path })
    }
}

parts! {
    /// The sender and the mail server. Without a host, emails are sent through the deployment's
    /// server.
    Server {
        is_shared: Option<bool>,
        provider: Option<String>,
        host: Option<String>,
        port: Option<u16>,
        username: Option<String>,
        password: Option<String>,
        sender_name: Option<String>,
        sender_email: Option<String>,
    }
}

impl Server {
    pub(crate) fn into_input(self) -> Result<EmailInput, Problems> {
        let Self { is_shared, provider, host, port, username, password, sender_name, sender_email } = self;
        if provider.is_some_and(|provider| provider != "smtp") {
            return Err(Problems::one(&format!("{SERVER}.provider"), "must be smtp"));
        }
        let kind = if is_shared == Some(false) { "standard" } else { "shared" };
        Ok(EmailInput { r#type: kind.to_owned(), host, port, username, password, sender_name, sender_email })
    }
}

/// The `type` of a provider that is not in the catalog.
pub(crate) const CUSTOM_PROVIDER: &str = "custom_oidc";
