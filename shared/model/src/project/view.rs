//! A project in responses to clients and to administrators. Only administrators can read the client
//! ids of providers. Secrets, such as the password of a mail server, are never returned.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;
use wire::id::ProjectId;

use crate::bot_challenge::BotChallengeView;
use crate::email::notice::Topic;
use crate::permission::{Occasion, PermissionId};
use crate::project::onboarding::OnboardingStatus;
use crate::project::passkeys::UserVerification;
use crate::project::redirect::TrustedDomain;
use crate::project::second_factor::SecondFactorView;
use crate::project::signing_key::TokenAlgorithm;
use crate::project::{EmailConfig, MergeStrategy, OAuthProvider, Project, ProjectConfig};
use crate::setting::HIDDEN_SECRET;
use crate::sign_up::rule::{DefaultAction, SignUpRule};

/// A project in responses to clients.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClientProject {
    /// The id.
    pub id: ProjectId,
    /// The name that users see.
    pub display_name: String,
    /// The settings that apps need.
    pub config: ClientConfig,
}

/// The settings that apps need.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClientConfig {
    /// Whether users may sign up with client access, including as anonymous users.
    pub sign_up_enabled: bool,
    /// Whether users may sign in with a password.
    pub credential_enabled: bool,
    /// Whether users may sign in with an emailed code or link.
    pub magic_link_enabled: bool,
    /// Whether users may register passkeys and sign in with them.
    pub passkey_enabled: bool,
    /// Whether users may create teams with client access.
    pub client_team_creation_enabled: bool,
    /// Whether users may delete their own account with client access.
    pub client_user_deletion_enabled: bool,
    /// Whether users may have API keys.
    pub allow_user_api_keys: bool,
    /// Whether teams may have API keys.
    pub allow_team_api_keys: bool,
    /// Whether redirect URLs may point to localhost.
    pub allow_localhost: bool,
    /// The providers that users can sign in with.
    pub enabled_oauth_providers: Vec<ProviderId>,
    /// The domains that redirect URLs may point to.
    pub domains: Vec<TrustedDomain>,
    /// The settings that decide when the app must solve a bot challenge, and from which provider.
    pub bot_challenge: BotChallengeView,
}

/// A provider that users can sign in with.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProviderId {
    /// The provider's id in the project.
    #[schema(example = "github")]
    pub id: String,
}

/// A project in responses to its administrators.
#[derive(Debug, Serialize, ToSchema)]
pub struct AdminProject {
    /// The id.
    pub id: ProjectId,
    /// The name that users see.
    pub display_name: String,
    /// The purpose of the project; may be empty.
    pub description: String,
    /// A square logo.
    pub logo_url: Option<String>,
    /// A wide logo.
    pub logo_full_url: Option<String>,
    /// A square logo for dark backgrounds.
    pub logo_dark_mode_url: Option<String>,
    /// A wide logo for dark backgrounds.
    pub logo_full_dark_mode_url: Option<String>,
    /// When the project was created, in milliseconds since the Unix epoch.
    pub created_at_millis: i64,
    /// Stored for compatibility with published SDKs, but has no effect.
    pub is_production_mode: bool,
    /// Whether the public URL of the API uses plain HTTP, as a local gateway does.
    pub is_development_environment: bool,
    /// The team that owns this project: a team in the internal project. `null` if no team owns the
    /// project.
    pub owner_team_id: Option<String>,
    /// The progress of the set-up in a dashboard; the service ignores it.
    pub onboarding_status: OnboardingStatus,
    /// The algorithm that signs access tokens of users without restrictions.
    pub access_token_algorithm: TokenAlgorithm,
    /// The settings.
    pub config: AdminConfig,
}

/// All settings of a project.
#[derive(Debug, Serialize, ToSchema)]
pub struct AdminConfig {
    /// The settings that apps can also read.
    #[serde(flatten)]
    pub client: ClientConfig,
    /// The providers, without their secrets.
    pub oauth_providers: Vec<AdminProvider>,
    /// The sender and the mail server.
    pub email_config: AdminEmailConfig,
    /// The id of the theme for emails that do not specify a theme.
    pub email_theme: Uuid,
    /// Domains whose passkeys work on the project's trusted domains.
    pub passkey_rp_ids: Vec<String>,
    /// Whether authenticators must verify the user.
    pub passkey_user_verification: UserVerification,
    /// Whether a passkey counts as both factors if its authenticator verified the user.
    pub passkey_replaces_second_factor: bool,
    /// Whether the URL of a client's metadata document can be its OAuth `client_id`.
    pub oauth_client_documents_enabled: bool,
    /// The hosts of the accepted metadata documents; empty if every host is accepted.
    pub oauth_client_document_hosts: Vec<String>,
    /// Whether OAuth clients may register themselves.
    pub oauth_client_registration_enabled: bool,
    /// Whether users are emailed about sign-ins from new places.
    pub new_sign_in_mails: bool,
    /// The topics for which users do not receive account notices.
    pub disabled_notices: Vec<Topic>,
    /// Whether a new user gets a personal team.
    pub create_team_on_sign_up: bool,
    /// How many teams a user may create with client access.
    pub max_teams_per_user: u16,
    /// Whether anonymous users may create everything that signed-up users may create.
    pub anonymous_creation_enabled: bool,
    /// Whether default permissions let members invite people to their team.
    pub member_invitations_enabled: bool,
    /// The permissions granted to the creator of a team.
    pub team_creator_default_permissions: Vec<DefaultPermission>,
    /// The permissions granted to a new member of a team.
    pub team_member_default_permissions: Vec<DefaultPermission>,
    /// The permissions granted to a new user.
    pub user_default_permissions: Vec<DefaultPermission>,
    /// Whether users are restricted until they verify their primary address.
    pub require_email_verification: bool,
    /// Whether clients must send the publishable client key.
    pub require_publishable_client_key: bool,
    /// What happens when a provider reports the address of an existing account.
    pub oauth_account_merge_strategy: MergeStrategy,
    /// The rules that decide on sign-ups.
    pub sign_up_rules: Vec<SignUpRule>,
    /// What happens when no rule allows or rejects the sign-up.
    pub sign_up_rules_default_action: DefaultAction,
    /// The minimum length of passwords, in characters.
    pub password_min_length: usize,
    /// The maximum time since the start of a session, in seconds.
    pub session_max_age_seconds: u32,
    /// The maximum time since the last use of a session, in seconds.
    pub session_max_idle_seconds: u32,
    /// How many seconds after signing in or reauthenticating users may change their sign-in methods
    /// in that session; 0 for no limit.
    pub reauthentication_max_age_seconds: u32,
    /// Which users need a second factor, and how long a remembered device replaces the second
    /// factor.
    pub second_factor: SecondFactorView,
    /// How many days new entries of the audit log are kept.
    pub audit_log_retention_days: u16,
    /// The usual number of requests per hour. A project with more requests is considered
    /// suspicious. OAuth flows are counted separately from sign-ups and emails.
    pub bot_challenge_usual_requests_per_hour: u32,
}

/// A permission that is granted by default.
#[derive(Debug, Serialize, ToSchema)]
pub struct DefaultPermission {
    /// The id of the permission.
    pub id: PermissionId,
}

/// A provider, without its secret.
#[wire::sparse]
#[derive(Debug, Serialize, ToSchema)]
pub struct AdminProvider {
    /// The provider's id in the project.
    pub id: String,
    /// The same value as `id`, for compatibility with published SDKs.
    pub provider_config_id: String,
    /// `standard`, or `shared` if the deployment's client is used.
    #[schema(example = "standard")]
    pub r#type: &'static str,
    /// The client id registered with the provider; absent for `shared`.
    pub client_id: Option<String>,
    /// Eight asterisks in place of the secret; absent for `shared`. If a request contains the
    /// asterisks, the secret is kept, provided the client id, issuer and tenant do not change.
    pub client_secret: Option<&'static str>,
    /// The issuer of a provider outside the catalog.
    pub issuer: Option<String>,
    /// The configured authorization endpoint.
    pub authorization_endpoint: Option<String>,
    /// The configuration id of Facebook Login for Business.
    pub facebook_config_id: Option<String>,
    /// The Microsoft tenant.
    pub microsoft_tenant_id: Option<String>,
    /// The bundle ids of apps with native Sign in with Apple.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apple_bundle_ids: Vec<String>,
}

/// The sender and the mail server. Unset fields of `standard` are empty (or 0 for the port) instead
/// of absent, because published SDKs read every field.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum AdminEmailConfig {
    /// The deployment's server and sender address.
    Shared {},
    /// The project's sender and, if `host` is not empty, the project's mail server.
    Standard {
        /// The mail server; empty for the deployment's mail server.
        host: String,
        /// The port; 0 if the mail server is not set.
        port: u16,
        /// The user name at the mail server.
        username: String,
        /// Eight asterisks in place of the password; empty if there is no password.
        password: &'static str,
        /// The name in the `From` header.
        sender_name: String,
        /// The address in the `From` header.
        sender_email: String,
    },
}

impl ClientConfig {
    fn of(config: &ProjectConfig) -> Self {
        Self {
            sign_up_enabled: config.sign_up_enabled,
            credential_enabled: config.credential_enabled,
            magic_link_enabled: config.magic_link_enabled,
            passkey_enabled: config.passkeys.enabled,
            client_team_creation_enabled: config.client_team_creation_enabled,
            client_user_deletion_enabled: config.client_user_deletion_enabled,
            allow_user_api_keys: config.user_api_keys_enabled,
            allow_team_api_keys: config.team_api_keys_enabled,
            allow_localhost: config.allow_localhost,
            enabled_oauth_providers: config.oauth_providers.iter().map(|provider| ProviderId { id: provider.id.clone() }).collect(),
            domains: config.domains.clone(),
            bot_challenge: BotChallengeView::of(&config.bot_challenge),
        }
    }
}

impl ClientProject {
    /// The part of a project that apps can read.
    pub fn of(project: &Project) -> Self {
        Self { id: project.id.clone(), display_name: project.display_name.clone(), config: ClientConfig::of(&project.config) }
    }
}

impl AdminProject {
    /// The whole project.
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
            onboarding_status: project.onboarding_status,
            access_token_algorithm: project.access_token_algorithm,
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
            passkey_rp_ids: config.passkeys.rp_ids.clone(),
            passkey_user_verification: config.passkeys.user_verification,
            passkey_replaces_second_factor: config.passkeys.replaces_second_factor,
            oauth_client_documents_enabled: config.oauth_clients.documents_enabled,
            oauth_client_document_hosts: config.oauth_clients.document_hosts.clone(),
            oauth_client_registration_enabled: config.oauth_clients.registration_enabled,
            new_sign_in_mails: config.new_sign_in_mails,
            disabled_notices: config.disabled_notices.iter().copied().collect(),
            create_team_on_sign_up: config.create_team_on_sign_up,
            max_teams_per_user: config.quotas.teams_per_user,
            anonymous_creation_enabled: config.quotas.anonymous,
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
            second_factor: SecondFactorView::of(&config.second_factor, &config.rbac),
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
        let password = login.map(|_| HIDDEN_SECRET).unwrap_or_default();
        Self::Standard { host, port, username, password, sender_name, sender_email }
    }
}

impl AdminProvider {
    /// A provider without its secret.
    pub fn of(provider: &OAuthProvider) -> Self {
        Self {
            id: provider.id.clone(),
            provider_config_id: provider.id.clone(),
            r#type: if provider.is_shared() { "shared" } else { "standard" },
            client_id: (!provider.is_shared()).then(|| provider.client_id.clone()),
            client_secret: (!provider.is_shared()).then_some(HIDDEN_SECRET),
            issuer: provider.issuer.clone(),
            authorization_endpoint: provider.authorization_endpoint.clone(),
            facebook_config_id: provider.facebook_config_id.clone(),
            microsoft_tenant_id: provider.microsoft_tenant_id.clone(),
            apple_bundle_ids: provider.apple_bundles.values().cloned().collect(),
        }
    }
}
