//! Projects and their settings.

pub mod api_key;
pub mod apple_bundle;
mod callback_path;
pub mod config;
pub mod config_patch;
pub mod creation;
pub mod email_config;
pub mod email_input;
pub(crate) mod host_pattern;
pub mod key_permission;
pub mod key_set;
pub mod mail_server;
mod native_redirect;
pub mod oauth_clients;
pub mod onboarding;
pub mod own_pages;
pub mod passkeys;
pub mod patch;
pub mod provider_input;
pub mod redirect;
#[cfg(test)]
mod redirect_tests;
mod registrations;
pub mod retention;
pub mod second_factor;
pub mod sessions;
pub mod signing_key;
pub mod source;
pub mod view;

use std::collections::{BTreeMap, BTreeSet};

use crypto::seal::SealedText;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::id::ProjectId;

use crate::bot_challenge::BotChallenge;
use crate::email::notice::Topic;
use crate::password::{self, length};
use crate::permission::Rbac;
use crate::project::oauth_clients::ClientSettings;
use crate::project::onboarding::OnboardingStatus;
use crate::project::own_pages::OwnPages;
use crate::project::passkeys::PasskeySettings;
use crate::project::redirect::{RedirectUrl, Rules, TrustedDomain};
use crate::project::second_factor::SecondFactorSettings;
use crate::project::signing_key::TokenAlgorithm;
use crate::project::source::ConfigSource;
use crate::provider::registration::Registration;
use crate::quota::QuotaSettings;
use crate::sign_up::rule::{DefaultAction, SignUpRule};

pub use crate::project::api_key::{ApiKey, KeyKind};
pub use crate::project::email_config::{EmailConfig, SendingConfig, SendingProject};
pub use crate::project::sessions::SessionSettings;

/// A project: its identity and its settings.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Project {
    /// The id of the project.
    pub id: ProjectId,
    /// The name that users see, in emails and on pages.
    pub display_name: String,
    /// The purpose of the project; may be empty.
    #[serde(default)]
    pub description: String,
    /// A square logo.
    pub logo_url: Option<String>,
    /// A wide logo.
    pub logo_full_url: Option<String>,
    /// A square logo for dark backgrounds.
    pub logo_dark_mode_url: Option<String>,
    /// A wide logo for dark backgrounds.
    pub logo_full_dark_mode_url: Option<String>,
    /// When the project was created.
    pub created_at: Timestamp,
    /// Stored for compatibility with published SDKs, but has no effect.
    #[serde(default)]
    pub is_production_mode: bool,
    /// The progress of the set-up in a dashboard; the service ignores it.
    #[serde(default, skip_serializing_if = "OnboardingStatus::is_completed")]
    pub onboarding_status: OnboardingStatus,
    /// The team that owns this project: a team in the internal project. Absent if no team owns the
    /// project, as for the internal project.
    pub owner_team_id: Option<String>,
    /// The highest cost of the bcrypt hashes imported for the project's users; absent if no hashes
    /// were imported. At sign-in, rejecting a wrong password always includes the work of a hash of
    /// this cost, so that the timing does not reveal anything about the account.
    pub dearest_bcrypt_cost: Option<u32>,
    /// The algorithm that signs access tokens of users without restrictions. For RS256, the project
    /// has RSA keys ([`signing_key`]).
    #[serde(default, skip_serializing_if = "TokenAlgorithm::is_default")]
    pub access_token_algorithm: TokenAlgorithm,
    /// The source of the configuration's branch level.
    #[serde(default, skip_serializing_if = "ConfigSource::is_unlinked")]
    pub config_source: ConfigSource,
    /// The settings.
    #[serde(default)]
    pub config: ProjectConfig,
}

/// The settings of a project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectConfig {
    /// Whether users may sign up with client access, including as anonymous users.
    pub sign_up_enabled: bool,
    /// Whether users may sign in with a password.
    pub credential_enabled: bool,
    /// Whether users may sign in with an emailed code or link.
    pub magic_link_enabled: bool,
    /// OAuth clients that describe themselves.
    #[serde(skip_serializing_if = "ClientSettings::is_default")]
    pub oauth_clients: ClientSettings,
    /// The settings for passkeys.
    #[serde(skip_serializing_if = "PasskeySettings::is_default")]
    pub passkeys: PasskeySettings,
    /// Whether users may create teams with client access.
    pub client_team_creation_enabled: bool,
    /// Whether users may delete their own account with client access.
    pub client_user_deletion_enabled: bool,
    /// Whether users may have API keys.
    pub user_api_keys_enabled: bool,
    /// Whether teams may have API keys.
    pub team_api_keys_enabled: bool,
    /// Whether redirect URLs may point to localhost.
    pub allow_localhost: bool,
    /// Whether a new user gets a personal team.
    pub create_team_on_sign_up: bool,
    /// Whether users are restricted until they verify their primary address.
    pub require_email_verification: bool,
    /// Whether clients must send the publishable client key.
    pub require_publishable_client_key: bool,
    /// Whether users are emailed about sign-ins from new places.
    pub new_sign_in_mails: bool,
    /// The topics for which users do not receive account notices ([`notice`](crate::notice)).
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub disabled_notices: BTreeSet<Topic>,
    /// The minimum length of passwords in characters, from 8 to 128.
    pub password_min_length: usize,
    /// The domains that redirect URLs may point to.
    pub domains: Vec<TrustedDomain>,
    /// The URLs of the trusted domains, by the domains' names in the configuration.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub domain_names: BTreeMap<String, String>,
    /// The providers that users can sign in with.
    pub oauth_providers: Vec<OAuthProvider>,
    /// Providers that users cannot sign in with, because `allowSignIn` is false or no level sets
    /// their `type`. An idle provider keeps its secret while a level sets the client id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle_oauth_providers: Vec<OAuthProvider>,
    /// The first registrations of providers that have been removed, or whose issuer or client has
    /// changed ([`registration`](crate::provider::registration)), by provider id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub first_registrations: BTreeMap<String, Registration>,
    /// What happens when a provider reports the address of an existing account.
    pub oauth_account_merge_strategy: MergeStrategy,
    /// The sign-up rules in the order in which they are listed; the rules are evaluated by
    /// priority.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sign_up_rules: Vec<SignUpRule>,
    /// The action if no sign-up rule allows or rejects the sign-up.
    pub sign_up_rules_default_action: DefaultAction,
    /// The lifetime of sessions.
    pub sessions: SessionSettings,
    /// How many seconds after signing in or reauthenticating users may change their sign-in methods
    /// in that session; 0 for no limit.
    pub reauthentication_max_age_seconds: u32,
    /// Which users need a second factor, and how long a remembered device replaces the second
    /// factor.
    #[serde(skip_serializing_if = "SecondFactorSettings::is_default")]
    pub second_factor: SecondFactorSettings,
    /// How many days new entries of the audit log are kept, from 1 to 400.
    pub audit_log_retention_days: u16,
    /// The settings that decide when operations require a bot challenge.
    #[serde(skip_serializing_if = "BotChallenge::is_default")]
    pub bot_challenge: BotChallenge,
    /// How much clients can create.
    #[serde(skip_serializing_if = "QuotaSettings::is_default")]
    pub quotas: QuotaSettings,
    /// The settings for emails.
    pub email: EmailConfig,
    /// The permissions.
    pub rbac: Rbac,
}

impl Default for ProjectConfig {
    fn default() -> Self {
        Self {
            sign_up_enabled: true,
            credential_enabled: true,
            magic_link_enabled: false,
            oauth_clients: ClientSettings::default(),
            passkeys: PasskeySettings::default(),
            client_team_creation_enabled: false,
            client_user_deletion_enabled: false,
            user_api_keys_enabled: false,
            team_api_keys_enabled: false,
            allow_localhost: true,
            create_team_on_sign_up: false,
            require_email_verification: false,
            require_publishable_client_key: false,
            new_sign_in_mails: false,
            disabled_notices: BTreeSet::new(),
            password_min_length: length::MIN_LENGTH,
            domains: Vec::new(),
            domain_names: BTreeMap::new(),
            oauth_providers: Vec::new(),
            idle_oauth_providers: Vec::new(),
            first_registrations: BTreeMap::new(),
            oauth_account_merge_strategy: MergeStrategy::default(),
            sign_up_rules: Vec::new(),
            sign_up_rules_default_action: DefaultAction::default(),
            sessions: SessionSettings::default(),
            reauthentication_max_age_seconds: 0,
            second_factor: SecondFactorSettings::default(),
            audit_log_retention_days: retention::RETENTION_DAYS,
            bot_challenge: BotChallenge::default(),
            quotas: QuotaSettings::default(),
            email: EmailConfig::default(),
            rbac: Rbac::default(),
        }
    }
}

impl ProjectConfig {
    /// The provider with this id, if users may sign in with it.
    pub fn oauth_provider(&self, id: &str) -> Option<&OAuthProvider> {
        self.oauth_providers.iter().find(|provider| provider.id == id)
    }
}

/// What happens when a provider reports another account's sign-in address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, deserr::Deserr)]
#[serde(rename_all = "snake_case")]
#[deserr(rename_all = lowercase)]
pub enum MergeStrategy {
    /// The provider account is linked to the existing account if both the provider and the project
    /// have verified the address. If only the provider has, the existing account is handed over to
    /// the person signing in ([`ownership`](crate::user::ownership)). Otherwise, it is refused.
    #[default]
    #[deserr(rename = "link_method")]
    LinkMethod,
    /// The sign-in is refused, no matter who has verified the address.
    #[deserr(rename = "raise_error")]
    RaiseError,
    /// A new account is created, but the address cannot be used to sign in to it.
    #[deserr(rename = "allow_duplicates")]
    AllowDuplicates,
}

/// A provider that users of the project can sign in with.
#[wire::sparse]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OAuthProvider {
    /// The id: an id from the catalog (`github`), or a name that the project has chosen for an
    /// OpenID issuer.
    pub id: String,
    /// The project's client id at the provider; empty for a shared client.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client_id: String,
    /// The client secret, sealed for the owner [`secret_owner`]; absent if the project uses the
    /// deployment's client.
    pub client_secret: Option<SealedText>,
    /// The issuer of a provider outside the catalog.
    pub issuer: Option<String>,
    /// The configured authorization endpoint; if absent, the endpoint in the catalog or, for other
    /// issuers, the discovered endpoint.
    pub authorization_endpoint: Option<String>,
    /// The configuration id of Facebook Login for Business.
    pub facebook_config_id: Option<String>,
    /// The Microsoft tenant; if absent, `common`.
    pub microsoft_tenant_id: Option<String>,
    /// The bundle ids of apps with native Sign in with Apple, by their names in the configuration.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub apple_bundles: BTreeMap<String, String>,
}

impl OAuthProvider {
    /// Whether the project uses the deployment's client.
    pub fn is_shared(&self) -> bool {
        self.client_secret.is_none()
    }
}

/// The owner under which a provider's client secret is sealed. A sealed secret that is copied to
/// another project or provider cannot be opened.
pub fn secret_owner(project: &str, provider: &str) -> String {
    format!("{project}/{provider}")
}

impl Project {
    /// A new project with default settings.
    pub fn new(id: ProjectId, display_name: &str, now: Timestamp) -> Self {
        Self {
            id,
            display_name: display_name.to_owned(),
            description: String::new(),
            logo_url: None,
            logo_full_url: None,
            logo_dark_mode_url: None,
            logo_full_dark_mode_url: None,
            created_at: now,
            is_production_mode: false,
            onboarding_status: OnboardingStatus::default(),
            owner_team_id: None,
            dearest_bcrypt_cost: None,
            access_token_algorithm: TokenAlgorithm::default(),
            config_source: ConfigSource::default(),
            config: ProjectConfig::default(),
        }
    }

    /// The internal project, whose users own projects through their teams. Every user gets a team
    /// and may create more teams.
    pub fn internal(now: Timestamp) -> Self {
        let config = ProjectConfig {
            magic_link_enabled: true,
            client_team_creation_enabled: true,
            create_team_on_sign_up: true,
            ..ProjectConfig::default()
        };
        Self { config, ..Self::new(ProjectId::internal(), "Gatelet", now) }
    }

    /// The project's requirements for passwords.
    pub fn password_rules(&self) -> password::Rules<'_> {
        password::Rules { min_length: self.config.password_min_length, project_name: &self.display_name }
    }

    /// A page of the project's app on the first trusted domain without a wildcard, for links whose
    /// URL the app did not set. If there is no such domain, the service's page is used, except for
    /// the project `internal`, which does not have pages.
    pub fn handler_page(&self, name: &str, own: &OwnPages) -> Option<RedirectUrl> {
        let domain = self.config.domains.iter().find(|domain| domain.is_web() && !domain.domain.contains('*'));
        let of_app = |domain: &TrustedDomain| format!("{}{}/{name}", domain.domain, domain.handler_path.trim_end_matches('/'));
        let hosted = || (!self.id.is_internal()).then(|| own.page(&self.id, name).into());
        domain.and_then(|domain| RedirectUrl::parse(&of_app(domain)).ok()).or_else(hosted)
    }

    /// The rules for the project's redirects; `own` are the pages of the service.
    pub fn redirects<'a>(&'a self, own: &'a OwnPages) -> Rules<'a> {
        Rules { allow_localhost: self.config.allow_localhost, domains: &self.config.domains, own: Some((own, &self.id)) }
    }
}
