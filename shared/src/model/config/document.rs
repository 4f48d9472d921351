//! A whole configuration as it is read: its types, its defaults, and the settings that it stands for.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

use deserr::{DeserializeError, Deserr, ErrorKind, IntoValue, Map as _, ValueKind, ValuePointerRef, take_cf_content};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::documents::{DocumentChange, MailDocuments, TemplateInput, ThemeInput, Written};
use super::{CUSTOM_PROVIDER, Config};
use crate::http::change::Change;
use crate::model::outbox::DEFAULT_THEME;
use crate::model::permission::PermissionId;
use crate::model::project::{MergeStrategy, Project, SessionSettings};
use crate::model::project_patch::{
    ConfigPatch, DomainInput, EmailInput, InvalidSetting, PermissionInput, ProjectPatch, ProviderInput, Secrets,
};
use crate::model::sign_up_rule::{DefaultAction, RuleAction, SignUpRule};
use crate::model::theme::ThemeId;
use crate::model::trail::RETENTION_DAYS;
use crate::oauth::catalog;
use crate::product_api::input::Problems;

/// The values of a configuration that says nothing, but for what is none then.
pub(super) fn defaults() -> Value {
    let (ours, sessions) = (MailDocuments::default(), SessionSettings::default());
    json!({
        "project": { "requirePublishableClientKey": false },
        "auth": {
            "allowSignUp": true,
            "password": { "allowSignIn": false },
            "otp": { "allowSignIn": false },
            "passkey": { "allowSignIn": false },
            "oauth": { "accountMergeStrategy": "link_method" },
            "sessions": { "maxAgeSeconds": sessions.max_age_seconds, "maxIdleSeconds": sessions.max_idle_seconds },
            "reauthentication": { "maxAgeSeconds": 0 },
            "signUpRulesDefaultAction": "allow",
        },
        "domains": { "allowLocalhost": false },
        "users": { "allowClientUserDeletion": false },
        "teams": { "createPersonalTeamOnSignUp": false, "allowClientTeamCreation": false },
        "onboarding": { "requireEmailVerification": false },
        "apiKeys": { "enabled": { "user": false, "team": false } },
        "auditLog": { "retentionDays": RETENTION_DAYS },
        "emails": {
            "server": {
                "isShared": true, "provider": "smtp", "host": null, "port": null, "username": null, "senderName": null, "senderEmail": null,
            },
            "selectedThemeId": DEFAULT_THEME,
            "templates": ours.templates(),
            "themes": ours.themes(),
        },
    })
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Document {
    #[deserr(default)]
    project: ProjectPart,
    #[deserr(default)]
    auth: Auth,
    #[deserr(default)]
    domains: Domains,
    #[deserr(default)]
    users: Users,
    #[deserr(default)]
    teams: Teams,
    #[deserr(default)]
    onboarding: Onboarding,
    #[deserr(default)]
    api_keys: ApiKeys,
    #[deserr(default)]
    audit_log: AuditLog,
    #[deserr(default)]
    emails: Emails,
    #[deserr(default)]
    rbac: Rbac,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct ProjectPart {
    #[deserr(default)]
    require_publishable_client_key: bool,
}

#[derive(Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Auth {
    #[deserr(default = true)]
    allow_sign_up: bool,
    #[deserr(default)]
    password: Method,
    #[deserr(default)]
    otp: Method,
    #[deserr(default)]
    passkey: Method,
    #[deserr(default)]
    oauth: OAuth,
    #[deserr(default)]
    sessions: Sessions,
    #[deserr(default)]
    reauthentication: Reauthentication,
    #[deserr(default)]
    sign_up_rules: Entries<Rule>,
    #[deserr(default)]
    sign_up_rules_default_action: DefaultAction,
}

impl Default for Auth {
    fn default() -> Self {
        Self {
            allow_sign_up: true,
            password: Method::default(),
            otp: Method::default(),
            passkey: Method::default(),
            oauth: OAuth::default(),
            sessions: Sessions::default(),
            reauthentication: Reauthentication::default(),
            sign_up_rules: Entries::default(),
            sign_up_rules_default_action: DefaultAction::default(),
        }
    }
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Method {
    #[deserr(default)]
    allow_sign_in: bool,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Sessions {
    #[deserr(default)]
    max_age_seconds: Option<u32>,
    #[deserr(default)]
    max_idle_seconds: Option<u32>,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Reauthentication {
    #[deserr(default)]
    max_age_seconds: u32,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct OAuth {
    #[deserr(default)]
    account_merge_strategy: MergeStrategy,
    #[deserr(default)]
    providers: Entries<Provider>,
}

#[derive(Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Provider {
    #[deserr(default, rename = "type")]
    kind: Option<String>,
    #[deserr(default)]
    is_shared: Option<bool>,
    #[deserr(default)]
    allow_sign_in: Option<bool>,
    #[deserr(default)]
    allow_connected_accounts: Option<bool>,
    #[deserr(default)]
    client_id: Option<String>,
    #[deserr(default)]
    client_secret: Option<String>,
    #[deserr(default)]
    issuer: Option<String>,
    #[deserr(default)]
    authorization_endpoint: Option<String>,
    #[deserr(default)]
    facebook_config_id: Option<String>,
    #[deserr(default)]
    microsoft_tenant_id: Option<String>,
}

#[derive(Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Rule {
    #[deserr(default = true)]
    enabled: bool,
    #[deserr(default)]
    display_name: Option<String>,
    #[deserr(default)]
    priority: u32,
    condition: String,
    action: RuleAction,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Domains {
    #[deserr(default)]
    allow_localhost: bool,
    #[deserr(default)]
    trusted_domains: Entries<Domain>,
}

#[derive(Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Domain {
    base_url: String,
    #[deserr(default)]
    handler_path: Option<String>,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Users {
    #[deserr(default)]
    allow_client_user_deletion: bool,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Teams {
    #[deserr(default)]
    create_personal_team_on_sign_up: bool,
    #[deserr(default)]
    allow_client_team_creation: bool,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Onboarding {
    #[deserr(default)]
    require_email_verification: bool,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct ApiKeys {
    #[deserr(default)]
    enabled: ApiKeysEnabled,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct ApiKeysEnabled {
    #[deserr(default)]
    user: bool,
    #[deserr(default)]
    team: bool,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct AuditLog {
    #[deserr(default)]
    retention_days: Option<u16>,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Emails {
    #[deserr(default)]
    server: Server,
    #[deserr(default)]
    selected_theme_id: Option<ThemeId>,
    #[deserr(default)]
    templates: Entries<TemplateInput>,
    #[deserr(default)]
    themes: Entries<ThemeInput>,
}

/// With a host, mails go by that server; without one, by the deployment's.
#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Server {
    #[deserr(default)]
    is_shared: Option<bool>,
    #[deserr(default)]
    provider: Option<String>,
    #[deserr(default)]
    host: Option<String>,
    #[deserr(default)]
    port: Option<u16>,
    #[deserr(default)]
    username: Option<String>,
    #[deserr(default)]
    password: Option<String>,
    #[deserr(default)]
    sender_name: Option<String>,
    #[deserr(default)]
    sender_email: Option<String>,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct Rbac {
    #[deserr(default)]
    default_permissions: DefaultPermissions,
}

#[derive(Default, Deserr)]
#[deserr(deny_unknown_fields, rename_all = camelCase)]
struct DefaultPermissions {
    #[deserr(default)]
    team_creator: Entries<bool>,
    #[deserr(default)]
    team_member: Entries<bool>,
    #[deserr(default)]
    sign_up: Entries<bool>,
}

/// Values by ids of their own. (The reading of maps that comes with deserr passes over values that are wrong.)
pub(super) struct Entries<T>(pub(super) BTreeMap<String, T>);

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

const PROVIDERS: &str = "auth.oauth.providers";
const RULES: &str = "auth.signUpRules";
const DOMAINS: &str = "domains.trustedDomains";
const SERVER: &str = "emails.server";

/// What a project becomes by a configuration.
#[derive(Debug, PartialEq)]
pub struct Changed {
    pub project: Project,
    pub documents: Vec<DocumentChange>,
}

/// The project and the documents that it has by a configuration, or what is wrong with it, by its paths.
pub fn read(
    config: &Config,
    project: Project,
    documents: &MailDocuments,
    secrets: &Secrets<'_>,
    now: Timestamp,
) -> Result<Changed, Problems> {
    let mut document: Document = deserr::deserialize::<Document, _, Problems>(config.try_nested()?)?;
    let written = Written::new(take(&mut document.emails.templates), take(&mut document.emails.themes));
    let ids = Ids::of(&document);
    let names = document.domains.trusted_domains.0.iter();
    let names = names.map(|(name, domain)| (name.clone(), domain.base_url.trim_end_matches('/').to_owned())).collect();
    let patch = ProjectPatch { config: Some(document.into_patch()?), ..ProjectPatch::default() };
    let selected = project.config.email.theme();
    let mut project = patch.apply(project, secrets).map_err(|error| Problems::one(&ids.path_of(&error), error.message))?;
    project.config.domain_names = names;
    let selected = Some(project.config.email.theme()).filter(|theme| *theme != selected);
    let documents = written.changes(documents, selected, now)?;
    Ok(Changed { project, documents })
}

impl Document {
    fn into_patch(self) -> Result<ConfigPatch, Problems> {
        let Self { project, auth, domains, users, teams, onboarding, api_keys, audit_log, emails, rbac } = self;
        let (permissions, sessions) = (rbac.default_permissions, SessionSettings::default());
        let providers = auth.oauth.providers.0.into_iter().map(|(id, provider)| provider.into_input(id)).collect::<Result<_, _>>()?;
        let domain = |domain: Domain| DomainInput { domain: domain.base_url, handler_path: domain.handler_path };
        Ok(ConfigPatch {
            sign_up_enabled: Some(auth.allow_sign_up),
            credential_enabled: Some(auth.password.allow_sign_in),
            magic_link_enabled: Some(auth.otp.allow_sign_in),
            passkey_enabled: Some(auth.passkey.allow_sign_in),
            client_team_creation_enabled: Some(teams.allow_client_team_creation),
            client_user_deletion_enabled: Some(users.allow_client_user_deletion),
            allow_user_api_keys: Some(api_keys.enabled.user),
            allow_team_api_keys: Some(api_keys.enabled.team),
            allow_localhost: Some(domains.allow_localhost),
            create_team_on_sign_up: Some(teams.create_personal_team_on_sign_up),
            require_email_verification: Some(onboarding.require_email_verification),
            require_publishable_client_key: Some(project.require_publishable_client_key),
            session_max_age_seconds: Some(auth.sessions.max_age_seconds.unwrap_or(sessions.max_age_seconds)),
            session_max_idle_seconds: Some(auth.sessions.max_idle_seconds.unwrap_or(sessions.max_idle_seconds)),
            reauthentication_max_age_seconds: Some(auth.reauthentication.max_age_seconds),
            audit_log_retention_days: Some(audit_log.retention_days.unwrap_or(RETENTION_DAYS)),
            oauth_account_merge_strategy: Some(auth.oauth.account_merge_strategy),
            sign_up_rules: Some(auth.sign_up_rules.0.into_iter().map(|(id, rule)| rule.into_rule(id)).collect()),
            sign_up_rules_default_action: Some(auth.sign_up_rules_default_action),
            domains: Some(domains.trusted_domains.0.into_values().map(domain).collect()),
            oauth_providers: Some(providers),
            email_config: Some(emails.server.into_input()?),
            // Ours is the one of a project that has chosen none.
            email_theme: emails.selected_theme_id.filter(|theme| theme.0 != DEFAULT_THEME).map_or(Change::Clear, Change::Set),
            team_creator_default_permissions: Some(permission_inputs("teamCreator", permissions.team_creator)?),
            team_member_default_permissions: Some(permission_inputs("teamMember", permissions.team_member)?),
            user_default_permissions: Some(permission_inputs("signUp", permissions.sign_up)?),
            // Settings that a configuration has no keys for stay as they are.
            ..ConfigPatch::default()
        })
    }
}

impl Rule {
    fn into_rule(self, id: String) -> SignUpRule {
        let Self { enabled, display_name, priority, condition, action } = self;
        SignUpRule { id, enabled, display_name, priority, condition, action }
    }
}

impl Provider {
    fn into_input(self, id: String) -> Result<ProviderInput, Problems> {
        let wrong = |name: &str, message: &str| Err(Problems::one(&format!("{PROVIDERS}.{id}.{name}"), message));
        let expected = if catalog::find(&id).is_some() { id.as_str() } else { CUSTOM_PROVIDER };
        if self.kind.as_deref().is_some_and(|kind| kind != expected) {
            return wrong("type", &format!("must be {expected}"));
        }
        if self.is_shared == Some(true) {
            return wrong("isShared", "must be false: there are no shared client ids");
        }
        for (name, value) in [("allowSignIn", self.allow_sign_in), ("allowConnectedAccounts", self.allow_connected_accounts)] {
            if value == Some(false) {
                return wrong(name, "must be true: what is not to be used is taken out");
            }
        }
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
        })
    }
}

impl Server {
    fn into_input(self) -> Result<EmailInput, Problems> {
        let Self { is_shared, provider, host, port, username, password, sender_name, sender_email } = self;
        if provider.is_some_and(|provider| provider != "smtp") {
            return Err(Problems::one(&format!("{SERVER}.provider"), "must be smtp"));
        }
        let kind = if is_shared == Some(false) { "standard" } else { "shared" };
        Ok(EmailInput { r#type: kind.to_owned(), host, port, username, password, sender_name, sender_email })
    }
}

fn permission_inputs(occasion: &str, ids: Entries<bool>) -> Result<Vec<PermissionInput>, Problems> {
    let given: BTreeSet<String> = ids.0.into_iter().filter(|(_, is_given)| *is_given).map(|(id, _)| id).collect();
    let input = |id: String| {
        let wrong = |error| Problems::one(&format!("rbac.defaultPermissions.{occasion}.{id}"), error);
        PermissionId::parse(&id).map(|id| PermissionInput { id }).map_err(wrong)
    };
    given.into_iter().map(input).collect()
}

/// The ids of what lists of settings are about, in their order: an error names the place in a list, and a configuration has ids.
struct Ids {
    providers: Vec<String>,
    rules: Vec<String>,
    domains: Vec<String>,
}

impl Ids {
    fn of(document: &Document) -> Self {
        Self {
            providers: document.auth.oauth.providers.0.keys().cloned().collect(),
            rules: document.auth.sign_up_rules.0.keys().cloned().collect(),
            domains: document.domains.trusted_domains.0.keys().cloned().collect(),
        }
    }

    /// The path in the configuration of what is wrong with the settings.
    fn path_of(&self, error: &InvalidSetting) -> String {
        let lists = [
            ("config.oauth_providers", PROVIDERS, &self.providers),
            ("config.sign_up_rules", RULES, &self.rules),
            ("config.domains", DOMAINS, &self.domains),
        ];
        for (setting, path, ids) in lists {
            let Some(rest) = error.path.strip_prefix(setting) else { continue };
            let place = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let id = place.and_then(|(index, field)| Some((ids.get(index.parse::<usize>().ok()?)?, field)));
            return id.map_or_else(|| path.to_owned(), |(id, field)| format!("{path}.{id}{}", field_name(field)));
        }
        if let Some(field) = error.path.strip_prefix("config.email_config.") {
            return format!("{SERVER}.{}", field_name(field));
        }
        let others = [
            ("config.session_max_age_seconds", "auth.sessions.maxAgeSeconds"),
            ("config.session_max_idle_seconds", "auth.sessions.maxIdleSeconds"),
            ("config.reauthentication_max_age_seconds", "auth.reauthentication.maxAgeSeconds"),
            ("config.audit_log_retention_days", "auditLog.retentionDays"),
            ("config.team_creator_default_permissions", "rbac.defaultPermissions.teamCreator"),
            ("config.team_member_default_permissions", "rbac.defaultPermissions.teamMember"),
            ("config.user_default_permissions", "rbac.defaultPermissions.signUp"),
        ];
        let other = others.iter().find(|(setting, _)| error.path == *setting);
        other.map_or_else(|| error.path.clone(), |(_, path)| (*path).to_owned())
    }
}

/// The name of a setting's field as a configuration writes it.
fn field_name(field: &str) -> String {
    let field = if field == ".domain" { ".base_url" } else { field };
    let mut words = field.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, tail) = word.split_at(word.len().min(1));
        name + &head.to_uppercase() + tail
    })
}
