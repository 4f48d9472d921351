//! Changes of a project's settings, as an administrator sends them. Everything is checked before anything is changed.

use std::borrow::Cow;

use deserr::Deserr;
use jiff::Timestamp;
use secrecy::SecretString;
use url::Url;
use utoipa::ToSchema;

use super::bot_challenge::{self, BotChallengeInput};
use super::id::{ProjectId, TeamId};
use super::line;
use super::mail_server::MailServerInput;
use super::notice::Topic;
use super::password;
use super::permission::{Occasion, PermissionId};
use super::project::{EmailConfig, MergeStrategy, OAuthProvider, Project, ProjectConfig, secret_owner};
use super::redirect::{TrustedDomain, parse_domain};
use super::senders::Senders;
use super::sign_up_rule::{DefaultAction, MAX_RULES, SignUpRule};
use super::theme::ThemeId;
use super::trail::RETENTION_RANGE;
use crate::crypto::seal::{self, Sealer};
use crate::entropy::Entropy;
use crate::http::change::Change;
use crate::oauth::catalog;

/// The body of a project's update; absent fields stay as they are.
#[derive(Default, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProjectPatch {
    #[deserr(default)]
    pub display_name: Option<String>,
    #[deserr(default)]
    pub description: Option<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_url: Change<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_full_url: Change<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_dark_mode_url: Change<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_full_dark_mode_url: Change<String>,
    #[deserr(default)]
    pub is_production_mode: Option<bool>,
    #[deserr(default)]
    pub config: Option<ConfigPatch>,
}

/// The body of a project's creation.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewProject {
    /// One line of 1 to 256 characters.
    pub display_name: String,
    /// A team of the user, which owns the project from then on.
    pub owner_team_id: TeamId,
    #[deserr(default)]
    pub description: Option<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_url: Change<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_full_url: Change<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_dark_mode_url: Change<String>,
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    pub logo_full_dark_mode_url: Change<String>,
    #[deserr(default)]
    pub is_production_mode: Option<bool>,
    #[deserr(default)]
    pub config: Option<ConfigPatch>,
}

impl NewProject {
    /// The project, or the first setting that is wrong.
    pub fn create(self, id: ProjectId, deployment: &Deployment<'_>, now: Timestamp) -> Result<Project, InvalidSetting> {
        let project = Project { owner_team_id: Some(self.owner_team_id.to_string()), ..Project::new(id, "", now) };
        let patch = ProjectPatch {
            display_name: Some(self.display_name),
            description: self.description,
            logo_url: self.logo_url,
            logo_full_url: self.logo_full_url,
            logo_dark_mode_url: self.logo_dark_mode_url,
            logo_full_dark_mode_url: self.logo_full_dark_mode_url,
            is_production_mode: self.is_production_mode,
            config: self.config,
        };
        patch.apply(project, deployment)
    }
}

#[derive(Default, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ConfigPatch {
    #[deserr(default)]
    pub sign_up_enabled: Option<bool>,
    #[deserr(default)]
    pub credential_enabled: Option<bool>,
    #[deserr(default)]
    pub magic_link_enabled: Option<bool>,
    #[deserr(default)]
    pub passkey_enabled: Option<bool>,
    #[deserr(default)]
    pub client_team_creation_enabled: Option<bool>,
    /// Whether members invite to their team by the permissions that they are given by default.
    #[deserr(default)]
    pub member_invitations_enabled: Option<bool>,
    #[deserr(default)]
    pub client_user_deletion_enabled: Option<bool>,
    #[deserr(default)]
    pub allow_user_api_keys: Option<bool>,
    #[deserr(default)]
    pub allow_team_api_keys: Option<bool>,
    #[deserr(default)]
    pub allow_localhost: Option<bool>,
    #[deserr(default)]
    pub create_team_on_sign_up: Option<bool>,
    #[deserr(default)]
    pub require_email_verification: Option<bool>,
    #[deserr(default)]
    pub require_publishable_client_key: Option<bool>,
    /// Whether a mail tells users of sign-ins from places that they did not sign in from before.
    #[deserr(default)]
    pub new_sign_in_mails: Option<bool>,
    /// What users get no email about when it changes, such as `password`; replaces all.
    #[deserr(default)]
    pub disabled_notices: Option<Vec<Topic>>,
    /// Characters, 8 to 128.
    #[deserr(default)]
    pub password_min_length: Option<u16>,
    /// Seconds, 300 (five minutes) to 31,708,800 (367 days).
    #[deserr(default)]
    pub session_max_age_seconds: Option<u32>,
    /// Seconds, 300 to 31,708,800.
    #[deserr(default)]
    pub session_max_idle_seconds: Option<u32>,
    /// Seconds, 60 to 31,708,800, after which a user has to be proved to be there again for changes of how it signs in; 0: never.
    #[deserr(default)]
    pub reauthentication_max_age_seconds: Option<u32>,
    /// Days, 1 to 400, after which entries of the audit log that are written from now on are deleted.
    #[deserr(default)]
    pub audit_log_retention_days: Option<u16>,
    /// When sign-ups, sign-in codes and OAuth flows take a solved bot challenge.
    #[deserr(default)]
    #[schema(value_type = BotChallengeInput, required = false)]
    pub bot_challenge: Option<BotChallengeInput>,
    /// Requests an hour, 1 to 1,000,000, above which the project is suspicious: of OAuth flows, and of sign-ups and emails together.
    #[deserr(default)]
    pub bot_challenge_usual_requests_per_hour: Option<u32>,
    #[deserr(default)]
    pub oauth_account_merge_strategy: Option<MergeStrategy>,
    /// Replaces all rules, at most 50.
    #[deserr(default)]
    pub sign_up_rules: Option<Vec<SignUpRule>>,
    /// What happens to whom no rule is about.
    #[deserr(default)]
    pub sign_up_rules_default_action: Option<DefaultAction>,
    /// Replaces all domains.
    #[deserr(default)]
    pub domains: Option<Vec<DomainInput>>,
    /// Replaces all providers; a provider without a secret keeps the one it had.
    #[deserr(default)]
    pub oauth_providers: Option<Vec<ProviderInput>>,
    #[deserr(default)]
    pub email_config: Option<EmailInput>,
    /// The id of the theme of mails that name none; `null` for ours.
    #[deserr(default)]
    #[schema(value_type = Option<Uuid>)]
    pub email_theme: Change<ThemeId>,
    /// What whoever creates a team may do there.
    #[deserr(default)]
    pub team_creator_default_permissions: Option<Vec<PermissionInput>>,
    /// What whoever joins a team may do there.
    #[deserr(default)]
    pub team_member_default_permissions: Option<Vec<PermissionInput>>,
    /// What a new user may do.
    #[deserr(default)]
    pub user_default_permissions: Option<Vec<PermissionInput>>,
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PermissionInput {
    pub id: PermissionId,
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct DomainInput {
    pub domain: String,
    #[deserr(default)]
    pub handler_path: Option<String>,
}

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

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct EmailInput {
    /// `shared`: the deployment's server and sender; `standard`: `sender_name` and `sender_email`, by the deployment's server where no `host` is
    /// given.
    #[deserr(rename = "type")]
    pub r#type: String,
    /// The project's own mail server: a domain or an address.
    #[deserr(default)]
    pub host: Option<String>,
    /// 465 and 2465 speak TLS from the first byte, every other one from STARTTLS on.
    #[deserr(default)]
    pub port: Option<u16>,
    /// Absent for a server that asks nobody who they are.
    #[deserr(default)]
    pub username: Option<String>,
    /// Absent, or as it was read: the one that there is, for the same host, port and username.
    #[deserr(default)]
    pub password: Option<String>,
    #[deserr(default)]
    pub sender_name: Option<String>,
    #[deserr(default)]
    pub sender_email: Option<String>,
}

/// What is wrong with a setting, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} {message}")]
pub struct InvalidSetting {
    pub path: String,
    pub message: Cow<'static, str>,
}

pub(super) fn invalid(path: impl Into<String>, message: impl Into<Cow<'static, str>>) -> InvalidSetting {
    InvalidSetting { path: path.into(), message: message.into() }
}

const REAUTHENTICATION_SECONDS: std::ops::RangeInclusive<u32> = 60..=367 * 86_400;
const SESSION_SECONDS: std::ops::RangeInclusive<u32> = 300..=367 * 86_400;
/// In characters: every request reads the project.
const MAX_DESCRIPTION: usize = 4096;
const MAX_DOMAINS: usize = 100;
const MAX_PROVIDERS: usize = 50;

/// What settings are checked and sealed with.
pub struct Deployment<'a> {
    pub sealer: &'a Sealer,
    pub entropy: &'a Entropy,
    pub senders: &'a Senders,
}

impl ProjectPatch {
    /// The project with these changes, or the first setting that is wrong.
    pub fn apply(self, mut project: Project, deployment: &Deployment<'_>) -> Result<Project, InvalidSetting> {
        if let Some(name) = self.display_name {
            line::check(&name, line::NAME).map_err(|error| invalid("display_name", error.to_string()))?;
            project.display_name = name;
        }
        if let Some(text) = self.description {
            if text.chars().count() > MAX_DESCRIPTION {
                return Err(invalid("description", "must have at most 4096 characters"));
            }
            project.description = text;
        }
        set_url("logo_url", self.logo_url, &mut project.logo_url)?;
        set_url("logo_full_url", self.logo_full_url, &mut project.logo_full_url)?;
        set_url("logo_dark_mode_url", self.logo_dark_mode_url, &mut project.logo_dark_mode_url)?;
        set_url("logo_full_dark_mode_url", self.logo_full_dark_mode_url, &mut project.logo_full_dark_mode_url)?;
        set(self.is_production_mode, &mut project.is_production_mode);
        if let Some(patch) = self.config {
            let owner = project.id.to_string();
            patch.apply(&mut project.config, &owner, deployment)?;
        }
        Ok(project)
    }
}

fn set<T>(new: Option<T>, field: &mut T) {
    if let Some(new) = new {
        *field = new;
    }
}

fn set_url(path: &str, new: Change<String>, field: &mut Option<String>) -> Result<(), InvalidSetting> {
    if let Change::Set(text) = &new {
        check_url(path, text)?;
    }
    new.apply(field);
    Ok(())
}

fn check_url(path: &str, text: &str) -> Result<(), InvalidSetting> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && text.len() <= 2048);
    url.map(drop).ok_or_else(|| invalid(path, "must be an http or https URL"))
}

impl ConfigPatch {
    fn apply(self, config: &mut ProjectConfig, owner: &str, deployment: &Deployment<'_>) -> Result<(), InvalidSetting> {
        set(self.sign_up_enabled, &mut config.sign_up_enabled);
        set(self.credential_enabled, &mut config.credential_enabled);
        set(self.magic_link_enabled, &mut config.magic_link_enabled);
        set(self.passkey_enabled, &mut config.passkey_enabled);
        set(self.client_team_creation_enabled, &mut config.client_team_creation_enabled);
        set(self.member_invitations_enabled, &mut config.rbac.members_invite);
        set(self.client_user_deletion_enabled, &mut config.client_user_deletion_enabled);
        set(self.allow_user_api_keys, &mut config.allow_user_api_keys);
        set(self.allow_team_api_keys, &mut config.allow_team_api_keys);
        set(self.allow_localhost, &mut config.allow_localhost);
        set(self.create_team_on_sign_up, &mut config.create_team_on_sign_up);
        set(self.require_email_verification, &mut config.require_email_verification);
        set(self.require_publishable_client_key, &mut config.require_publishable_client_key);
        set(self.new_sign_in_mails, &mut config.new_sign_in_mails);
        set(self.disabled_notices.map(|topics| topics.into_iter().collect()), &mut config.disabled_notices);
        set(self.oauth_account_merge_strategy, &mut config.oauth_account_merge_strategy);
        if let Some(length) = self.password_min_length.map(usize::from) {
            if !(password::MIN_LENGTH..=password::MAX_LENGTH).contains(&length) {
                return Err(invalid("config.password_min_length", "must be from 8 to 128"));
            }
            config.password_min_length = length;
        }
        set_seconds("config.session_max_age_seconds", self.session_max_age_seconds, &mut config.sessions.max_age_seconds)?;
        set_seconds("config.session_max_idle_seconds", self.session_max_idle_seconds, &mut config.sessions.max_idle_seconds)?;
        if let Some(seconds) = self.reauthentication_max_age_seconds {
            if seconds != 0 && !REAUTHENTICATION_SECONDS.contains(&seconds) {
                return Err(invalid("config.reauthentication_max_age_seconds", "must be 0, or from 60 to 31708800"));
            }
            config.reauthentication_max_age_seconds = seconds;
        }
        if self.audit_log_retention_days.is_some_and(|days| !RETENTION_RANGE.contains(&days)) {
            return Err(invalid("config.audit_log_retention_days", "must be from 1 to 400 days"));
        }
        set(self.audit_log_retention_days, &mut config.audit_log_retention_days);
        if let Some(challenge) = self.bot_challenge {
            config.bot_challenge = challenge.check(&config.bot_challenge, owner, deployment)?;
        }
        if let Some(requests) = self.bot_challenge_usual_requests_per_hour {
            config.bot_challenge.usual_requests_per_hour = bot_challenge::check_usual(requests)?;
        }
        set(self.sign_up_rules_default_action, &mut config.sign_up_rules_default_action);
        if let Some(rules) = self.sign_up_rules {
            check_rules(&rules)?;
            config.sign_up_rules = rules;
        }
        if let Some(domains) = self.domains {
            config.domains = check_domains(domains)?;
        }
        if let Some(providers) = self.oauth_providers {
            config.oauth_providers = check_providers(providers, &config.oauth_providers, owner, deployment)?;
        }
        if let Some(email) = self.email_config {
            config.email = email.check(&config.email, owner, deployment)?;
        }
        self.email_theme.map(|theme| theme.0).apply(&mut config.email.theme_id);
        let defaults = [
            ("config.team_creator_default_permissions", Occasion::TeamCreator, self.team_creator_default_permissions),
            ("config.team_member_default_permissions", Occasion::TeamMember, self.team_member_default_permissions),
            ("config.user_default_permissions", Occasion::SignUp, self.user_default_permissions),
        ];
        for (path, occasion, inputs) in defaults {
            let Some(inputs) = inputs else { continue };
            let ids = inputs.into_iter().map(|input| input.id).collect();
            config.rbac.set_defaults(occasion, ids).map_err(|_| invalid(path, "must be permissions of the project, of this scope"))?;
        }
        Ok(())
    }
}

fn set_seconds(path: &str, new: Option<u32>, field: &mut u32) -> Result<(), InvalidSetting> {
    if new.is_some_and(|seconds| !SESSION_SECONDS.contains(&seconds)) {
        return Err(invalid(path, "must be from 300 to 31708800 seconds"));
    }
    set(new, field);
    Ok(())
}

fn check_rules(rules: &[SignUpRule]) -> Result<(), InvalidSetting> {
    if rules.len() > MAX_RULES {
        return Err(invalid("config.sign_up_rules", format!("must be at most {MAX_RULES}")));
    }
    for (index, rule) in rules.iter().enumerate() {
        let path = |field: &str| format!("config.sign_up_rules[{index}].{field}");
        rule.check().map_err(|error| invalid(path(error.field()), error.to_string()))?;
        if rules[..index].iter().any(|other| other.id == rule.id) {
            return Err(invalid(path("id"), "is named twice"));
        }
    }
    Ok(())
}

fn check_domains(domains: Vec<DomainInput>) -> Result<Vec<TrustedDomain>, InvalidSetting> {
    if domains.len() > MAX_DOMAINS {
        return Err(invalid("config.domains", "must be at most 100"));
    }
    let check = |(index, input): (usize, DomainInput)| {
        let domain = input.domain.trim_end_matches('/').to_owned();
        parse_domain(&domain).map_err(|_| {
            invalid(format!("config.domains[{index}].domain"), "must be http:// or https:// and a host, with * or ** as wildcards")
        })?;
        let handler_path = input.handler_path.unwrap_or_else(|| "/handler".to_owned());
        if !handler_path.starts_with('/') {
            return Err(invalid(format!("config.domains[{index}].handler_path"), "must begin with /"));
        }
        Ok(TrustedDomain { domain, handler_path })
    };
    domains.into_iter().enumerate().map(check).collect()
}

fn check_providers(
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
    fn check(
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

impl EmailInput {
    fn check(self, old: &EmailConfig, project: &str, deployment: &Deployment<'_>) -> Result<EmailConfig, InvalidSetting> {
        let theme_id = old.theme_id;
        match self.r#type.as_str() {
            "shared" => Ok(EmailConfig { theme_id, ..EmailConfig::default() }),
            "standard" => {
                let email = self.sender_email.as_deref().and_then(|text| super::email::Email::parse(text).ok());
                let email = email.ok_or_else(|| invalid("config.email_config.sender_email", "must be an e-mail address"))?;
                let sender_name = self.sender_name.filter(|name| !name.is_empty());
                line::check(sender_name.as_deref().unwrap_or_default(), line::OPTIONAL_NAME)
                    .map_err(|error| invalid("config.email_config.sender_name", error.to_string()))?;
                let server = MailServerInput { host: self.host, port: self.port, username: self.username, password: self.password };
                let server = server.check(old.server.as_ref(), project, deployment)?;
                // One that was taken before senders were checked is sent from the deployment's own.
                let is_kept = old.server.is_none() && old.sender_email.as_deref() == Some(email.as_str());
                if server.is_none() && !is_kept && !deployment.senders.allow(email.as_str()) {
                    return Err(invalid("config.email_config.sender_email", deployment.senders.advice()));
                }
                Ok(EmailConfig { sender_name, sender_email: Some(email.to_string()), server, theme_id })
            }
            _ => Err(invalid("config.email_config.type", "must be shared or standard")),
        }
    }
}
