//! Parses a complete configuration into settings.

use std::collections::BTreeSet;
use std::mem::take;

use jiff::Timestamp;
use wire::change::Change;
use wire::id::TeamId;
use wire::problem::Problems;

use crate::bot_challenge::{BotChallenge, BotChallengeInput};
use crate::document::theme::DEFAULT_THEME;
use crate::permission::PermissionId;
use crate::project::config::document::{Challenge, Document, SecondFactor};
use crate::project::config::documents::{DocumentChange, ParsedDocuments};
use crate::project::config::level::Level;
use crate::project::config::level_documents::LevelDocuments;
use crate::project::config::notices::Notices;
use crate::project::config::parts::Entries;
use crate::project::config::paths::{Ids, REQUIRED_OF_PERMISSIONS, SECOND_FACTOR};
use crate::project::config::permissions;
use crate::project::config::settings::Config;
use crate::project::config_patch::{ConfigPatch, PermissionInput};
use crate::project::patch::ProjectPatch;
use crate::project::retention::RETENTION_DAYS;
use crate::project::second_factor::SecondFactorInput;
use crate::project::{Project, SessionSettings};
use crate::quota::QuotaSettings;
use crate::setting::Deployment;

/// The project described by a configuration, and the changes to the documents of `level`; or the
/// problems, by configuration path.
pub(crate) fn read(
    config: &Config,
    mut project: Project,
    (level, documents): (Level, &LevelDocuments),
    deployment: &Deployment<'_>,
    now: Timestamp,
) -> Result<(Project, Vec<DocumentChange>), Problems> {
    let mut document: Document = deserr::deserialize::<Document, _, Problems>(config.try_nested()?)?;
    let written = ParsedDocuments::new(take(&mut document.emails.templates), take(&mut document.emails.themes));
    document.auth.oauth.providers.0.retain(|_, provider| provider.is_registered());
    document.auth.sign_up_rules.0.retain(|_, rule| rule.has_condition());
    let providers = document.auth.oauth.providers.0.iter();
    let offered: BTreeSet<String> = providers.filter(|(_, provider)| provider.is_offered()).map(|(id, _)| id.clone()).collect();
    let ids = document.ids();
    project.config.rbac = permissions::configured(take(&mut project.config.rbac), take(&mut document.rbac.permissions))?;
    let names = document.domains.trusted_domains.0.iter();
    let names = names.filter_map(|(name, domain)| Some((name.clone(), domain.base_url.as_deref()?.trim_end_matches('/').to_owned())));
    let names = names.collect();
    let patch = ProjectPatch { config: Some(document.into_patch()?), ..ProjectPatch::default() };
    let selected = project.config.email.theme();
    // A provider that users cannot sign in with keeps its secret.
    let idle = take(&mut project.config.idle_oauth_providers);
    project.config.oauth_providers.extend(idle);
    let mut project = patch.apply(project, deployment).map_err(|error| Problems::one(&ids.path_of(&error), error.message))?;
    let providers = take(&mut project.config.oauth_providers);
    (project.config.oauth_providers, project.config.idle_oauth_providers) =
        providers.into_iter().partition(|provider| offered.contains(&provider.id));
    project.config.domain_names = names;
    let selected = Some(project.config.email.theme()).filter(|theme| *theme != selected);
    let changes = written.changes(&documents.starting_documents(level), selected, now)?;
    Ok((project, changes))
}

impl Document {
    fn ids(&self) -> Ids {
        Ids {
            providers: self.auth.oauth.providers.0.keys().cloned().collect(),
            rules: self.auth.sign_up_rules.0.keys().cloned().collect(),
            domains: self.domains.trusted_domains.0.keys().cloned().collect(),
        }
    }

    fn into_patch(self) -> Result<ConfigPatch, Problems> {
        let Self { project, auth, domains, users, teams, onboarding, api_keys, audit_log, emails, rbac } = self;
        let (defaults, sessions) = (rbac.default_permissions, SessionSettings::default());
        let providers = auth.oauth.providers.0.into_iter().map(|(id, provider)| provider.into_input(id)).collect::<Result<_, _>>()?;
        let rules = auth.sign_up_rules.0.into_iter().map(|(id, rule)| rule.into_rule(id)).collect::<Result<_, _>>()?;
        let trusted = domains.trusted_domains.0.into_iter().map(|(id, domain)| domain.into_input(&id)).collect::<Result<_, _>>()?;
        let notices = Notices::read(emails.notices)?;
        Ok(ConfigPatch {
            sign_up_enabled: Some(auth.allow_sign_up),
            credential_enabled: Some(auth.password.allow_sign_in),
            magic_link_enabled: Some(auth.otp.allow_sign_in),
            passkey_enabled: Some(auth.passkey.allow_sign_in),
            passkey_rp_ids: Some(auth.passkey.rp_ids),
            passkey_user_verification: Some(auth.passkey.user_verification),
            passkey_replaces_second_factor: Some(auth.passkey.replaces_second_factor),
            allow_user_api_keys: Some(api_keys.enabled.user),
            allow_team_api_keys: Some(api_keys.enabled.team),
            client_team_creation_enabled: Some(teams.allow_client_team_creation),
            member_invitations_enabled: Some(teams.allow_member_invitations),
            max_teams_per_user: Some(teams.max_per_user.unwrap_or(QuotaSettings::default().teams_per_user)),
            anonymous_creation_enabled: Some(users.allow_anonymous_creation),
            client_user_deletion_enabled: Some(users.allow_client_user_deletion),
            allow_localhost: Some(domains.allow_localhost),
            create_team_on_sign_up: Some(teams.create_personal_team_on_sign_up),
            require_email_verification: Some(onboarding.require_email_verification),
            require_publishable_client_key: Some(project.require_publishable_client_key),
            new_sign_in_mails: Some(notices.new_sign_in),
            disabled_notices: Some(notices.disabled.into_iter().collect()),
            session_max_age_seconds: Some(auth.sessions.max_age_seconds.unwrap_or(sessions.max_age_seconds)),
            session_max_idle_seconds: Some(auth.sessions.max_idle_seconds.unwrap_or(sessions.max_idle_seconds)),
            reauthentication_max_age_seconds: Some(auth.reauthentication.max_age_seconds),
            second_factor: Some(auth.second_factor.into_input()?),
            audit_log_retention_days: Some(audit_log.retention_days.unwrap_or(RETENTION_DAYS)),
            bot_challenge_usual_requests_per_hour: Some(
                auth.bot_challenge.usual_requests_per_hour.unwrap_or(BotChallenge::default().usual_requests_per_hour),
            ),
            bot_challenge: Some(auth.bot_challenge.into_input()),
            oauth_account_merge_strategy: Some(auth.oauth.account_merge_strategy),
            sign_up_rules: Some(rules),
            sign_up_rules_default_action: Some(auth.sign_up_rules_default_action),
            domains: Some(trusted),
            oauth_providers: Some(providers),
            email_config: Some(emails.server.into_input()?),
            // A project without a selected theme uses the built-in theme.
            email_theme: emails.selected_theme_id.filter(|theme| theme.0 != DEFAULT_THEME).map_or(Change::Clear, Change::Set),
            team_creator_default_permissions: Some(permission_inputs("teamCreator", defaults.team_creator)?),
            team_member_default_permissions: Some(permission_inputs("teamMember", defaults.team_member)?),
            user_default_permissions: Some(permission_inputs("signUp", defaults.sign_up)?),
            // Settings that are not part of the configuration keep their values.
            ..ConfigPatch::default()
        })
    }
}

impl Challenge {
    fn into_input(self) -> BotChallengeInput {
        BotChallengeInput {
            provider: Some(self.provider),
            site_key: self.site_key.map_or(Change::Clear, Change::Set),
            secret_key: self.secret_key,
            sign_up: Some(self.sign_up),
            send_sign_in_code: Some(self.send_sign_in_code),
            oauth: Some(self.oauth),
        }
    }
}

impl SecondFactor {
    fn into_input(self) -> Result<SecondFactorInput, Problems> {
        Ok(SecondFactorInput {
            remember_device_days: Some(self.remember_device_days),
            required_of_everyone: Some(self.required_of_everyone),
            required_of_teams: Some(named(&format!("{SECOND_FACTOR}.requiredOfTeams"), self.required_of_teams, TeamId::parse)?),
            required_of_permissions: Some(named(REQUIRED_OF_PERMISSIONS, self.required_of_permissions, PermissionId::parse)?),
        })
    }
}

pub(crate) fn permission_inputs(occasion: &str, ids: Entries<bool>) -> Result<Vec<PermissionInput>, Problems> {
    let ids = named(&format!("rbac.defaultPermissions.{occasion}"), ids, PermissionId::parse)?;
    Ok(ids.into_iter().map(|id| PermissionInput { id }).collect())
}

/// The ids with the value `true` in the record at `path`.
fn named<T, E: std::fmt::Display>(path: &str, ids: Entries<bool>, parse: impl Fn(&str) -> Result<T, E>) -> Result<Vec<T>, Problems> {
    let given: BTreeSet<String> = ids.0.into_iter().filter(|(_, is_given)| *is_given).map(|(id, _)| id).collect();
    given.iter().map(|id| parse(id).map_err(|error| Problems::one(&format!("{path}.{id}"), error))).collect()
}
