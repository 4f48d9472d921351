//! Projects and their settings.

pub mod config;
pub mod config_patch;
pub mod email_input;
pub mod key_set;
pub mod mail_server;
pub mod patch;
pub mod provider_input;
pub mod redirect;
pub mod senders;
pub mod setting;
pub mod view;

use std::collections::{BTreeMap, BTreeSet};

use crypto::seal::Sealed;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::id::ProjectId;
use wire::level::Level;

use crate::bot_challenge::BotChallenge;
use crate::document::theme::DEFAULT_THEME;
use crate::notice::kind::Topic;
use crate::password::length;
use crate::permission::Rbac;
use crate::project::mail_server::MailServer;
use crate::project::redirect::{RedirectUrl, Rules, TrustedDomain};
use crate::sign_up::rule::{DefaultAction, SignUpRule};
use crate::trail::retention;

/// A project: its users, and how they sign in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Project {
    pub id: ProjectId,
    pub display_name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo_full_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo_dark_mode_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo_full_dark_mode_url: Option<String>,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub created_at: Timestamp,
    #[serde(default)]
    pub is_production_mode: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_team_id: Option<String>,
    /// The highest cost among the bcrypt hashes that its users were imported with: what a check of a
    /// wrong password has to take, so that its time tells nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dearest_bcrypt_cost: Option<u32>,
    #[serde(default)]
    pub config: ProjectConfig,
}

/// The settings of a project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectConfig {
    pub sign_up_enabled: bool,
    /// Sign-in with a password.
    pub credential_enabled: bool,
    /// Sign-in with a code or a link by mail.
    pub magic_link_enabled: bool,
    pub passkey_enabled: bool,
    pub client_team_creation_enabled: bool,
    pub client_user_deletion_enabled: bool,
    pub allow_user_api_keys: bool,
    pub allow_team_api_keys: bool,
    pub allow_localhost: bool,
    pub create_team_on_sign_up: bool,
    pub require_email_verification: bool,
    pub require_publishable_client_key: bool,
    /// A mail tells users of sign-ins from places that they did not sign in from before.
    pub new_sign_in_mails: bool,
    /// What users are not told of when it changes; they are told of everything else ([`notice`](crate::notice)).
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub disabled_notices: BTreeSet<Topic>,
    /// In characters, 8 to 128.
    pub password_min_length: usize,
    pub domains: Vec<TrustedDomain>,
    /// What a configuration calls a domain: the domain of each name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub domain_names: BTreeMap<String, String>,
    pub oauth_providers: Vec<OAuthProvider>,
    pub oauth_account_merge_strategy: MergeStrategy,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sign_up_rules: Vec<SignUpRule>,
    pub sign_up_rules_default_action: DefaultAction,
    pub sessions: SessionSettings,
    /// How long ago, in seconds, a user may have been proved to be there for changes of how it signs in; 0: however long.
    pub reauthentication_max_age_seconds: u32,
    /// How many days new entries of the trail are kept, 1 to 400.
    pub audit_log_retention_days: u16,
    #[serde(skip_serializing_if = "BotChallenge::is_default")]
    pub bot_challenge: BotChallenge,
    pub email: EmailConfig,
    pub rbac: Rbac,
}

impl Default for ProjectConfig {
    fn default() -> Self {
        Self {
            sign_up_enabled: true,
            credential_enabled: true,
            magic_link_enabled: false,
            passkey_enabled: false,
            client_team_creation_enabled: false,
            client_user_deletion_enabled: false,
            allow_user_api_keys: false,
            allow_team_api_keys: false,
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
            oauth_account_merge_strategy: MergeStrategy::default(),
            sign_up_rules: Vec::new(),
            sign_up_rules_default_action: DefaultAction::default(),
            sessions: SessionSettings::default(),
            reauthentication_max_age_seconds: 0,
            audit_log_retention_days: retention::RETENTION_DAYS,
            bot_challenge: BotChallenge::default(),
            email: EmailConfig::default(),
            rbac: Rbac::default(),
        }
    }
}

/// How long sessions live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSettings {
    /// Seconds from the start of a session.
    pub max_age_seconds: u32,
    /// Seconds since the last use.
    pub max_idle_seconds: u32,
}

impl Default for SessionSettings {
    /// 365 days, and 30 days without use.
    fn default() -> Self {
        Self { max_age_seconds: 365 * 86_400, max_idle_seconds: 30 * 86_400 }
    }
}

impl ProjectConfig {
    /// The provider of this id, if users may sign in with it.
    pub fn oauth_provider(&self, id: &str) -> Option<&OAuthProvider> {
        self.oauth_providers.iter().find(|provider| provider.id == id)
    }

    /// A page of the project's own app, for emails that no app asks for: at the first trusted domain without a wildcard.
    pub fn handler_page(&self, name: &str) -> Option<RedirectUrl> {
        let domain = self.domains.iter().find(|domain| !domain.domain.contains('*'))?;
        RedirectUrl::parse(&format!("{}{}/{name}", domain.domain, domain.handler_path.trim_end_matches('/'))).ok()
    }
}

impl SessionSettings {
    pub fn life(self) -> SignedDuration {
        SignedDuration::from_secs(i64::from(self.max_age_seconds))
    }

    pub fn idle(self) -> SignedDuration {
        SignedDuration::from_secs(i64::from(self.max_idle_seconds))
    }
}

/// What happens when a provider's account has an address that another account signs in with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, deserr::Deserr)]
#[serde(rename_all = "snake_case")]
#[deserr(rename_all = lowercase)]
pub enum MergeStrategy {
    #[default]
    #[deserr(rename = "link_method")]
    LinkMethod,
    #[deserr(rename = "raise_error")]
    RaiseError,
    #[deserr(rename = "allow_duplicates")]
    AllowDuplicates,
}

/// A provider that users of the project may sign in with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OAuthProvider {
    /// An id of the catalog (`github`), or a name of the project's own for an OpenID issuer.
    pub id: String,
    pub client_id: String,
    pub client_secret: Sealed,
    /// The issuer of a provider that is not in the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// Where an issuer that is not in the catalog authorizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_endpoint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facebook_config_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub microsoft_tenant_id: Option<String>,
}

/// What a provider's client secret is sealed for: copied to another project or provider it does not open.
pub fn secret_owner(project: &str, provider: &str) -> String {
    format!("{project}/{provider}")
}

/// Who the project's mails come from, and by what; absent parts are the deployment's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmailConfig {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_email: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<MailServer>,
    /// The theme of mails that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme_id: Option<Uuid>,
}

/// A project as far as its mails need it: what reads all the rest is a fiftieth of the worker that sends them.
#[derive(Debug, Clone, Deserialize)]
pub struct SendingProject {
    pub id: ProjectId,
    pub display_name: String,
    #[serde(default)]
    pub logo_url: Option<String>,
    #[serde(default)]
    pub config: SendingConfig,
}

/// The settings of a [`SendingProject`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct SendingConfig {
    pub email: EmailConfig,
}

impl EmailConfig {
    /// The theme of mails that name none.
    pub fn theme(&self) -> Uuid {
        self.theme_id.unwrap_or(DEFAULT_THEME)
    }
}

impl Project {
    /// A new project with the defaults.
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
            owner_team_id: None,
            dearest_bcrypt_cost: None,
            config: ProjectConfig::default(),
        }
    }

    /// The project whose users own projects through their teams: everybody begins with a team, and may create more.
    pub fn internal(now: Timestamp) -> Self {
        let config = ProjectConfig {
            magic_link_enabled: true,
            client_team_creation_enabled: true,
            create_team_on_sign_up: true,
            ..ProjectConfig::default()
        };
        Self { config, ..Self::new(ProjectId::internal(), "Gatelet", now) }
    }

    pub fn redirects(&self) -> Rules<'_> {
        Rules { allow_localhost: self.config.allow_localhost, domains: &self.config.domains }
    }
}

/// A key of a project, as the table holds it under the digest of the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    pub kind: KeyKind,
    /// The key set that it was made with.
    pub set_id: uuid::Uuid,
    #[serde(default, with = "jiff::fmt::serde::timestamp::millisecond::optional", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(default, with = "jiff::fmt::serde::timestamp::millisecond::optional", skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

/// What a key opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    PublishableClient,
    SecretServer,
    SuperSecretAdmin,
}

impl KeyKind {
    pub const ALL: [Self; 3] = [Self::PublishableClient, Self::SecretServer, Self::SuperSecretAdmin];

    pub fn prefix(self) -> &'static str {
        match self {
            Self::PublishableClient => "pck_",
            Self::SecretServer => "ssk_",
            Self::SuperSecretAdmin => "sak_",
        }
    }

    /// The kind that proves an access type.
    pub fn of(level: Level) -> Self {
        match level {
            Level::Client => Self::PublishableClient,
            Level::Server => Self::SecretServer,
            Level::Admin => Self::SuperSecretAdmin,
        }
    }

    /// The kind whose prefix a text has.
    pub fn by_prefix(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| text.starts_with(kind.prefix()))
    }
}

impl ApiKey {
    /// Whether the key opens what `kind` opens now.
    pub fn opens(&self, kind: KeyKind, now: Timestamp) -> bool {
        self.kind == kind && self.revoked_at.is_none() && self.expires_at.is_none_or(|time| now < time)
    }
}
