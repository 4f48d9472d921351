//! Changes to a project's configuration in requests of administrators.

use deserr::Deserr;
use url::Url;
use utoipa::ToSchema;
use wire::change::Change;

use crate::bot_challenge::{self, BotChallengeInput};
use crate::document::theme::ThemeId;
use crate::email::notice::Topic;
use crate::password::length::{MAX_LENGTH, MIN_LENGTH};
use crate::permission::{Occasion, PermissionId};
use crate::project::email_input::EmailInput;
use crate::project::host_pattern::MAX_WILDCARDS;
use crate::project::passkeys::{MAX_RP_IDS, UserVerification, parse_rp_id};
use crate::project::provider_input::{ProviderInput, check_providers};
use crate::project::redirect::{TrustedDomain, parse_domain};
use crate::project::retention::RETENTION_RANGE;
use crate::project::second_factor::SecondFactorInput;
use crate::project::{MergeStrategy, ProjectConfig};
use crate::setting::{Deployment, SettingRefusal, invalid, set};
use crate::sign_up::check::check;
use crate::sign_up::program::in_order;
use crate::sign_up::rule::{DefaultAction, MAX_RULES, SignUpRule};

/// The body of a change to a configuration; absent fields keep their values.
#[wire::optional]
#[derive(Default, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ConfigPatch {
    /// Whether users may sign up with client access, including as anonymous users.
    pub sign_up_enabled: Option<bool>,
    /// Whether users may sign in with a password.
    pub credential_enabled: Option<bool>,
    /// Whether users may sign in with an emailed code or link.
    pub magic_link_enabled: Option<bool>,
    /// Whether users may register passkeys and sign in with them.
    pub passkey_enabled: Option<bool>,
    /// Domains whose passkeys work on the project's trusted domains, in addition to each page's own
    /// host: at most 10, without public suffixes. Replaces the whole list.
    pub passkey_rp_ids: Option<Vec<String>>,
    /// Whether authenticators must verify the user, for example with a PIN or a fingerprint.
    pub passkey_user_verification: Option<UserVerification>,
    /// Whether a passkey counts as both factors if its authenticator verified the user.
    pub passkey_replaces_second_factor: Option<bool>,
    /// Whether the URL of a client's metadata document can be its OAuth `client_id`. Default:
    /// `false`.
    pub oauth_client_documents_enabled: Option<bool>,
    /// The hosts of the accepted metadata documents, at most 100; replaces the entire list. If it
    /// is empty, every host is accepted.
    pub oauth_client_document_hosts: Option<Vec<String>>,
    /// Whether OAuth clients may register themselves (RFC 7591), as old MCP clients do. Default:
    /// `false`.
    pub oauth_client_registration_enabled: Option<bool>,
    /// Whether users may create teams with client access.
    pub client_team_creation_enabled: Option<bool>,
    /// How many teams a user may create with client access, 0 to 200. Default: 50.
    #[schema(maximum = 200)]
    pub max_teams_per_user: Option<u16>,
    /// Whether anonymous users may create teams, contact channels, passkeys, API keys and
    /// everything else that signed-up users may create. Default: `false`.
    pub anonymous_creation_enabled: Option<bool>,
    /// Whether default permissions let members invite people to their team.
    pub member_invitations_enabled: Option<bool>,
    /// Whether users may delete their own account with client access.
    pub client_user_deletion_enabled: Option<bool>,
    /// Whether users may have API keys. While `false`, existing keys are kept but not accepted.
    pub allow_user_api_keys: Option<bool>,
    /// Whether teams may have API keys. While `false`, existing keys are kept but not accepted.
    pub allow_team_api_keys: Option<bool>,
    /// Whether redirect URLs may point to localhost.
    pub allow_localhost: Option<bool>,
    /// Whether a new user gets a personal team.
    pub create_team_on_sign_up: Option<bool>,
    /// Whether users are restricted until they verify their primary address.
    pub require_email_verification: Option<bool>,
    /// Whether clients must send the publishable client key.
    pub require_publishable_client_key: Option<bool>,
    /// Whether users are emailed about sign-ins from new places.
    pub new_sign_in_mails: Option<bool>,
    /// The topics, such as `password`, for which users do not receive account notices; replaces the
    /// entire list.
    pub disabled_notices: Option<Vec<Topic>>,
    /// The minimum length of passwords in characters, 8 to 128.
    pub password_min_length: Option<u16>,
    /// The maximum time since the start of a session in seconds, 300 (five minutes) to 31,708,800
    /// (367 days).
    pub session_max_age_seconds: Option<u32>,
    /// The maximum time since the last use of a session in seconds, 300 to 31,708,800.
    pub session_max_idle_seconds: Option<u32>,
    /// How many seconds after signing in or reauthenticating users may change their sign-in methods
    /// in that session: 60 to 31,708,800, or 0 for no limit.
    pub reauthentication_max_age_seconds: Option<u32>,
    /// Which users need a second factor, and how long a remembered device replaces the second
    /// factor.
    #[schema(value_type = SecondFactorInput, required = false)]
    pub second_factor: Option<SecondFactorInput>,
    /// How long new audit log entries are kept, in days: 1 to 400.
    pub audit_log_retention_days: Option<u16>,
    /// When sign-ups, sign-in codes and OAuth flows require a solved bot challenge.
    #[schema(value_type = BotChallengeInput, required = false)]
    pub bot_challenge: Option<BotChallengeInput>,
    /// The usual number of requests per hour, 1 to 1,000,000. A project with more requests is
    /// considered suspicious. OAuth flows are counted separately from sign-ups and emails.
    pub bot_challenge_usual_requests_per_hour: Option<u32>,
    /// What happens when a provider reports the address of an existing account.
    pub oauth_account_merge_strategy: Option<MergeStrategy>,
    /// The sign-up rules, at most 50; replaces the entire list.
    pub sign_up_rules: Option<Vec<SignUpRule>>,
    /// What happens when no rule allows or rejects the sign-up.
    pub sign_up_rules_default_action: Option<DefaultAction>,
    /// The trusted domains, at most 100; replaces the entire list.
    pub domains: Option<Vec<DomainInput>>,
    /// The providers, at most 50; replaces the entire list. A provider without a secret keeps its
    /// existing secret, if the client id, issuer and tenant do not change.
    pub oauth_providers: Option<Vec<ProviderInput>>,
    /// The sender and the mail server.
    pub email_config: Option<EmailInput>,
    /// The id of the theme for emails that do not specify a theme; `null` for the built-in theme.
    #[schema(value_type = Option<Uuid>)]
    pub email_theme: Change<ThemeId>,
    /// The permissions granted to the creator of a team; replaces the entire list.
    pub team_creator_default_permissions: Option<Vec<PermissionInput>>,
    /// The permissions granted to a new member of a team; replaces the entire list.
    pub team_member_default_permissions: Option<Vec<PermissionInput>>,
    /// The permissions granted to a new user; replaces the entire list.
    pub user_default_permissions: Option<Vec<PermissionInput>>,
}

impl ConfigPatch {
    /// The first provider of type `shared` for which deployments cannot have a shared client.
    pub fn unshareable_provider(&self) -> Option<&str> {
        let mut providers = self.oauth_providers.iter().flatten();
        providers.find(|provider| provider.is_unshareable()).map(|provider| provider.id.as_str())
    }
}

/// A default permission.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PermissionInput {
    /// The id of the permission.
    pub id: PermissionId,
}

/// A trusted domain.
#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct DomainInput {
    /// An http or https origin, or the redirect URL of a native app, such as
    /// `com.example.app:/callback`. The host of an origin may contain the wildcards `*` and `**`,
    /// and the port may be `*`.
    pub domain: String,
    /// The path of the pages that emails link to, which begins with `/`. Default: `/handler`.
    pub handler_path: Option<String>,
}

const MAX_DOMAINS: usize = 100;

impl ConfigPatch {
    /// Applies the settings that do not need validation.
    fn set_switches(&self, config: &mut ProjectConfig) {
        set(self.sign_up_enabled, &mut config.sign_up_enabled);
        set(self.credential_enabled, &mut config.credential_enabled);
        set(self.magic_link_enabled, &mut config.magic_link_enabled);
        set(self.passkey_enabled, &mut config.passkeys.enabled);
        set(self.passkey_user_verification, &mut config.passkeys.user_verification);
        set(self.passkey_replaces_second_factor, &mut config.passkeys.replaces_second_factor);
        set(self.oauth_client_documents_enabled, &mut config.oauth_clients.documents_enabled);
        set(self.oauth_client_registration_enabled, &mut config.oauth_clients.registration_enabled);
        set(self.client_team_creation_enabled, &mut config.client_team_creation_enabled);
        set(self.member_invitations_enabled, &mut config.rbac.members_invite);
        set(self.client_user_deletion_enabled, &mut config.client_user_deletion_enabled);
        set(self.allow_user_api_keys, &mut config.user_api_keys_enabled);
        set(self.allow_team_api_keys, &mut config.team_api_keys_enabled);
        set(self.allow_localhost, &mut config.allow_localhost);
        set(self.create_team_on_sign_up, &mut config.create_team_on_sign_up);
        set(self.require_email_verification, &mut config.require_email_verification);
        set(self.require_publishable_client_key, &mut config.require_publishable_client_key);
        set(self.new_sign_in_mails, &mut config.new_sign_in_mails);
        set(self.oauth_account_merge_strategy, &mut config.oauth_account_merge_strategy);
        set(self.sign_up_rules_default_action, &mut config.sign_up_rules_default_action);
    }

    pub(crate) fn apply(self, config: &mut ProjectConfig, owner: &str, deployment: &Deployment<'_>) -> Result<(), SettingRefusal> {
        self.set_switches(config);
        set(self.disabled_notices.map(|topics| topics.into_iter().collect()), &mut config.disabled_notices);
        if let Some(ids) = &self.passkey_rp_ids {
            config.passkeys.rp_ids = check_rp_ids(ids)?;
        }
        set(self.oauth_client_document_hosts.as_deref().map(check_document_hosts).transpose()?, &mut config.oauth_clients.document_hosts);
        set_min_length(self.password_min_length.map(usize::from), &mut config.password_min_length)?;
        set_seconds("config.session_max_age_seconds", self.session_max_age_seconds, &mut config.sessions.max_age_seconds)?;
        set_seconds("config.session_max_idle_seconds", self.session_max_idle_seconds, &mut config.sessions.max_idle_seconds)?;
        if let Some(seconds) = self.reauthentication_max_age_seconds {
            if seconds != 0 && !REAUTHENTICATION_SECONDS.contains(&seconds) {
                return Err(invalid("config.reauthentication_max_age_seconds", "must be 0, or from 60 to 31708800 seconds"));
            }
            config.reauthentication_max_age_seconds = seconds;
        }
        if let Some(second_factor) = self.second_factor {
            config.second_factor = second_factor.check(&config.second_factor, &config.rbac)?;
        }
        config.quotas.change(self.max_teams_per_user, self.anonymous_creation_enabled)?;
        set_retention(self.audit_log_retention_days, &mut config.audit_log_retention_days)?;
        if let Some(challenge) = self.bot_challenge {
            config.bot_challenge = challenge.check(&config.bot_challenge, owner, deployment)?;
        }
        if let Some(requests) = self.bot_challenge_usual_requests_per_hour {
            config.bot_challenge.usual_requests_per_hour = bot_challenge::check_usual(requests)?;
        }
        if let Some(rules) = self.sign_up_rules {
            // Rules that an earlier version accepted are kept, so that other settings can be
            // changed.
            if in_order(&rules) != in_order(&config.sign_up_rules) {
                check_rules(&rules)?;
            }
            config.sign_up_rules = rules;
        }
        if let Some(domains) = self.domains {
            config.domains = check_domains(domains)?;
        }
        if let Some(providers) = self.oauth_providers {
            let new = check_providers(providers, &config.oauth_providers, owner, deployment)?;
            let mut old = std::mem::replace(&mut config.oauth_providers, new);
            old.append(&mut config.idle_oauth_providers);
            config.record_registrations("config.oauth_providers", &old)?;
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
            config
                .rbac
                .set_defaults(occasion, ids)
                .map_err(|_| invalid(path, "must be permissions whose scope is team (for members and creators) or project (for users)"))?;
        }
        Ok(())
    }
}

fn set_min_length(new: Option<usize>, field: &mut usize) -> Result<(), SettingRefusal> {
    if new.is_some_and(|length| !(MIN_LENGTH..=MAX_LENGTH).contains(&length)) {
        return Err(invalid("config.password_min_length", "must be from 8 to 128 characters"));
    }
    set(new, field);
    Ok(())
}

fn set_seconds(path: &str, new: Option<u32>, field: &mut u32) -> Result<(), SettingRefusal> {
    if new.is_some_and(|seconds| !SESSION_SECONDS.contains(&seconds)) {
        return Err(invalid(path, "must be from 300 to 31708800 seconds"));
    }
    set(new, field);
    Ok(())
}

fn check_rp_ids(ids: &[String]) -> Result<Vec<String>, SettingRefusal> {
    if ids.len() > MAX_RP_IDS {
        return Err(invalid("config.passkey_rp_ids", format!("must have at most {MAX_RP_IDS} domains")));
    }
    let check = |(index, id): (usize, &String)| {
        let wrong = || invalid(format!("config.passkey_rp_ids[{index}]"), "must be a domain, such as example.com, and not a public suffix");
        parse_rp_id(id).ok_or_else(wrong)
    };
    ids.iter().enumerate().map(check).collect()
}

fn check_document_hosts(hosts: &[String]) -> Result<Vec<String>, SettingRefusal> {
    if hosts.len() > MAX_DOMAINS {
        return Err(invalid("config.oauth_client_document_hosts", format!("must have at most {MAX_DOMAINS} hosts")));
    }
    let check = |(index, host): (usize, &String)| {
        let is_host = Url::parse(&format!("https://{host}/")).is_ok_and(|url| url.as_str() == format!("https://{host}/"));
        let wrong = || invalid(format!("config.oauth_client_document_hosts[{index}]"), "must be a host in lower case, such as example.com");
        if is_host && !host.contains([':', '@', '/']) { Ok(host.clone()) } else { Err(wrong()) }
    };
    hosts.iter().enumerate().map(check).collect()
}

fn set_retention(new: Option<u16>, field: &mut u16) -> Result<(), SettingRefusal> {
    if new.is_some_and(|days| !RETENTION_RANGE.contains(&days)) {
        return Err(invalid("config.audit_log_retention_days", "must be from 1 to 400 days"));
    }
    set(new, field);
    Ok(())
}

fn check_rules(rules: &[SignUpRule]) -> Result<(), SettingRefusal> {
    if rules.len() > MAX_RULES {
        return Err(invalid("config.sign_up_rules", format!("must have at most {MAX_RULES} rules")));
    }
    check(rules).map_err(|(index, error)| invalid(format!("config.sign_up_rules[{index}].{}", error.field()), error.to_string()))
}

fn check_domains(domains: Vec<DomainInput>) -> Result<Vec<TrustedDomain>, SettingRefusal> {
    if domains.len() > MAX_DOMAINS {
        return Err(invalid("config.domains", "must have at most 100 domains"));
    }
    let check = |(index, input): (usize, DomainInput)| {
        let domain = input.domain.trim_end_matches('/').to_owned();
        parse_domain(&domain).map_err(|_| {
            invalid(
                format!("config.domains[{index}].domain"),
                format!(
                    "must be an http or https origin, such as https://*.example.com (at most {MAX_WILDCARDS} wildcards, * or **), or a native app's URL whose scheme has a dot, such as com.example.app:/callback"
                ),
            )
        })?;
        let handler_path = input.handler_path.unwrap_or_else(|| "/handler".to_owned());
        if !handler_path.starts_with('/') {
            return Err(invalid(format!("config.domains[{index}].handler_path"), "must begin with /"));
        }
        Ok(TrustedDomain { domain, handler_path })
    };
    domains.into_iter().enumerate().map(check).collect()
}

const REAUTHENTICATION_SECONDS: std::ops::RangeInclusive<u32> = 60..=367 * 86_400;

const SESSION_SECONDS: std::ops::RangeInclusive<u32> = 300..=367 * 86_400;
