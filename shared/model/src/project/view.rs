//! What clients and administrators read of a project. Client ids and secrets of providers, and the password of a mail server,
//! are settings to write, never to read.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;
use wire::id::ProjectId;

use crate::bot_challenge::BotChallengeView;
use crate::notice::kind::Topic;
use crate::permission::{Occasion, PermissionId};
use crate::project::mail_server::HIDDEN_PASSWORD;
use crate::project::redirect::TrustedDomain;
use crate::project::{EmailConfig, MergeStrategy, OAuthProvider, Project, ProjectConfig};
use crate::sign_up::rule::{DefaultAction, SignUpRule};

/// A project, as anybody with its id may read it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClientProject {
    pub id: ProjectId,
    pub display_name: String,
    pub config: ClientConfig,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ClientConfig {
    pub sign_up_enabled: bool,
    pub credential_enabled: bool,
    pub magic_link_enabled: bool,
    pub passkey_enabled: bool,
    pub client_team_creation_enabled: bool,
    pub client_user_deletion_enabled: bool,
    pub allow_user_api_keys: bool,
    pub allow_team_api_keys: bool,
    pub allow_localhost: bool,
    pub enabled_oauth_providers: Vec<ProviderId>,
    pub domains: Vec<TrustedDomain>,
    /// When the app has to solve a bot challenge, and whose.
    pub bot_challenge: BotChallengeView,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ProviderId {
    #[schema(example = "github")]
    pub id: String,
}

/// A project, as its administrators read it.
#[derive(Debug, Serialize, ToSchema)]
pub struct AdminProject {
    pub id: ProjectId,
    pub display_name: String,
    pub description: String,
    pub logo_url: Option<String>,
    pub logo_full_url: Option<String>,
    pub logo_dark_mode_url: Option<String>,
    pub logo_full_dark_mode_url: Option<String>,
    /// Milliseconds since the epoch.
    pub created_at_millis: i64,
    pub is_production_mode: bool,
    pub is_development_environment: bool,
    pub owner_team_id: Option<String>,
    #[schema(example = "completed")]
    pub onboarding_status: &'static str,
    pub config: AdminConfig,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AdminConfig {
    #[serde(flatten)]
    pub client: ClientConfig,
    pub oauth_providers: Vec<AdminProvider>,
    pub email_config: AdminEmailConfig,
    /// The id of the theme of mails that name none.
    pub email_theme: Uuid,
    pub new_sign_in_mails: bool,
    /// What users get no email about when it changes.
    pub disabled_notices: Vec<Topic>,
    pub create_team_on_sign_up: bool,
    pub member_invitations_enabled: bool,
    pub team_creator_default_permissions: Vec<DefaultPermission>,
    pub team_member_default_permissions: Vec<DefaultPermission>,
    pub user_default_permissions: Vec<DefaultPermission>,
    pub require_email_verification: bool,
    pub require_publishable_client_key: bool,
    pub oauth_account_merge_strategy: MergeStrategy,
    pub sign_up_rules: Vec<SignUpRule>,
    pub sign_up_rules_default_action: DefaultAction,
    /// Characters.
    pub password_min_length: usize,
    /// Seconds from the start of a session.
    pub session_max_age_seconds: u32,
    /// Seconds since the last use of a session.
    pub session_max_idle_seconds: u32,
    /// Seconds after which a user has to be proved to be there again for changes of how it signs in; 0: never.
    pub reauthentication_max_age_seconds: u32,
    /// Days after which new entries of the audit log are deleted.
    pub audit_log_retention_days: u16,
    /// Requests an hour above which the project is suspicious: of OAuth flows, and of sign-ups and emails together.
    pub bot_challenge_usual_requests_per_hour: u32,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DefaultPermission {
    pub id: PermissionId,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AdminProvider {
    pub id: String,
    pub provider_config_id: String,
    pub r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorization_endpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facebook_config_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub microsoft_tenant_id: Option<String>,
}

/// What is not set is empty in a `standard` one, as published SDKs read nothing where a field is missing.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum AdminEmailConfig {
    /// The deployment's server and sender.
    Shared {},
    /// The project's own sender; with a host, its own mail server too.
    Standard {
        /// Empty: the deployment's server.
        host: String,
        port: u16,
        username: String,
        /// Eight asterisks in place of a password.
        password: &'static str,
        sender_name: String,
        sender_email: String,
    },
}

impl ClientConfig {
    fn of(config: &ProjectConfig) -> Self {
        Self {
            sign_up_enabled: config.sign_up_enabled,
            credential_enabled: config.credential_enabled,
            magic_link_enabled: config.magic_link_enabled,
            passkey_enabled: config.passkey_enabled,
            client_team_creation_enabled: config.client_team_creation_enabled,
            client_user_deletion_enabled: config.client_user_deletion_enabled,
            allow_user_api_keys: config.allow_user_api_keys,
            allow_team_api_keys: config.allow_team_api_keys,
            allow_localhost: config.allow_localhost,
            enabled_oauth_providers: config.oauth_providers.iter().map(|provider| ProviderId { id: provider.id.clone() }).collect(),
            domains: config.domains.clone(),
            bot_challenge: BotChallengeView::of(&config.bot_challenge),
        }
    }
}

impl ClientProject {
    pub fn of(project: &Project) -> Self {
        Self { id: project.id.clone(), display_name: project.display_name.clone(), config: ClientConfig::of(&project.config) }
    }
}

impl AdminProject {
    pub fn of(project: &Project, is_development_environment: bool) -> Self {
        Self {
            id: project.id.clone(),
            display_name: project.display_name.clone(),
            description: project.description.clone(),
            logo_url: project.logo_url.clone(),
            logo_full_url: project.logo_full_url.clone(),
            logo_dark_mode_url: project.logo_dark_mode_url.clone(),
            logo_full_dark_mode_url: project.logo_full_dark_mode_url.clone(),
            created_at_millis: project.created_at.as_millisecond(),
            is_production_mode: project.is_production_mode,
            is_development_environment,
            owner_team_id: project.owner_team_id.clone(),
            onboarding_status: "completed",
            config: AdminConfig::of(&project.config),
        }
    }
}

impl AdminConfig {
    fn of(config: &ProjectConfig) -> Self {
        let defaults = |occasion| config.rbac.defaults(occasion).iter().map(|id| DefaultPermission { id: id.clone() }).collect();
        Self {
            client: ClientConfig::of(config),
            oauth_providers: config.oauth_providers.iter().map(AdminProvider::of).collect(),
            email_config: AdminEmailConfig::of(&config.email),
            email_theme: config.email.theme(),
            new_sign_in_mails: config.new_sign_in_mails,
            disabled_notices: config.disabled_notices.iter().copied().collect(),
            create_team_on_sign_up: config.create_team_on_sign_up,
            member_invitations_enabled: config.rbac.members_invite,
            team_creator_default_permissions: defaults(Occasion::TeamCreator),
            team_member_default_permissions: defaults(Occasion::TeamMember),
            user_default_permissions: defaults(Occasion::SignUp),
            require_email_verification: config.require_email_verification,
            require_publishable_client_key: config.require_publishable_client_key,
            oauth_account_merge_strategy: config.oauth_account_merge_strategy,
            sign_up_rules: config.sign_up_rules.clone(),
            sign_up_rules_default_action: config.sign_up_rules_default_action,
            password_min_length: config.password_min_length,
            session_max_age_seconds: config.sessions.max_age_seconds,
            session_max_idle_seconds: config.sessions.max_idle_seconds,
            reauthentication_max_age_seconds: config.reauthentication_max_age_seconds,
            audit_log_retention_days: config.audit_log_retention_days,
            bot_challenge_usual_requests_per_hour: config.bot_challenge.usual_requests_per_hour,
        }
    }
}

impl AdminEmailConfig {
    fn of(config: &EmailConfig) -> Self {
        let Some(sender_email) = config.sender_email.clone() else { return Self::Shared {} };
        let sender_name = config.sender_name.clone().unwrap_or_default();
        let (host, port) = config.server.as_ref().map(|server| (server.host.clone(), server.port)).unwrap_or_default();
        let login = config.server.as_ref().and_then(|server| server.login.as_ref());
        let username = login.map(|login| login.username.clone()).unwrap_or_default();
        let password = login.map(|_| HIDDEN_PASSWORD).unwrap_or_default();
        Self::Standard { host, port, username, password, sender_name, sender_email }
    }
}

impl AdminProvider {
    fn of(provider: &OAuthProvider) -> Self {
        Self {
            id: provider.id.clone(),
            provider_config_id: provider.id.clone(),
            r#type: "standard",
            issuer: provider.issuer.clone(),
            authorization_endpoint: provider.authorization_endpoint.clone(),
            facebook_config_id: provider.facebook_config_id.clone(),
            microsoft_tenant_id: provider.microsoft_tenant_id.clone(),
        }
    }
}
