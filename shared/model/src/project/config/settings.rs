//! A configuration: what it holds, and how keys are put in and taken out.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use wire::problem::Problems;

use crate::permission::Occasion;
use crate::project::config::documents::{self, MailDocuments};
use crate::project::config::level::Level;
use crate::project::config::parts::CUSTOM_PROVIDER;
use crate::project::config::{defaults, notices};
use crate::project::{OAuthProvider, Project, ProjectConfig};
use crate::provider::catalog;
use crate::sign_up::rule::SignUpRule;
use crate::text::line;

/// A configuration: values by their paths. An object that is not empty is no value, but what is in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Config(BTreeMap<String, Value>);

impl Config {
    /// The settings of a project and its documents, with all defaults and without secrets.
    pub fn of(project: &Project, documents: &MailDocuments) -> Self {
        let config = &project.config;
        let of_id = |id: &str, value: Value| (id.to_owned(), value);
        let providers: Map<_, _> = config.oauth_providers.iter().map(|provider| of_id(&provider.id, of_provider(provider))).collect();
        let rules: Map<_, _> = config.sign_up_rules.iter().map(|rule| of_id(&rule.id, of_rule(rule))).collect();
        let domains: Map<_, _> = domain_names(project)
            .into_iter()
            .zip(&config.domains)
            .map(|(name, domain)| (name, json!({ "baseUrl": domain.domain, "handlerPath": domain.handler_path })))
            .collect();
        let defaults = |occasion: Occasion| -> Map<_, _> {
            config.rbac.defaults(occasion).iter().map(|id| (id.to_string(), Value::Bool(true))).collect()
        };
        let (email, server) = (&config.email, config.email.server.as_ref());
        let nested = json!({
            "project": { "requirePublishableClientKey": config.require_publishable_client_key },
            "auth": auth(config, providers, rules),
            "domains": { "allowLocalhost": config.allow_localhost, "trustedDomains": domains },
            "users": { "allowClientUserDeletion": config.client_user_deletion_enabled },
            "teams": {
                "createPersonalTeamOnSignUp": config.create_team_on_sign_up,
                "allowClientTeamCreation": config.client_team_creation_enabled,
                "allowMemberInvitations": config.rbac.members_invite,
            },
            "onboarding": { "requireEmailVerification": config.require_email_verification },
            "apiKeys": { "enabled": { "user": config.allow_user_api_keys, "team": config.allow_team_api_keys } },
            "auditLog": { "retentionDays": config.audit_log_retention_days },
            "emails": {
                "server": {
                    "isShared": email.sender_email.is_none(),
                    "provider": "smtp",
                    "host": server.map(|server| &server.host),
                    "port": server.map(|server| server.port),
                    "username": server.and_then(|server| server.login.as_ref()).map(|login| &login.username),
                    "senderName": email.sender_name.as_deref().map(line::stripped),
                    "senderEmail": email.sender_email,
                },
                "selectedThemeId": email.theme(),
                "notices": notices::of(config),
                "templates": documents.templates(),
                "themes": documents.themes(),
            },
            "rbac": { "defaultPermissions": {
                "teamCreator": defaults(Occasion::TeamCreator),
                "teamMember": defaults(Occasion::TeamMember),
                "signUp": defaults(Occasion::SignUp),
            } },
        });
        let mut flat = BTreeMap::new();
        flatten(String::new(), nested, &mut flat);
        Self(flat)
    }

    /// As JSON, objects within objects.
    pub fn nested(&self) -> Value {
        // What was flattened has no value below another one.
        self.try_nested().unwrap_or_default()
    }

    pub(crate) fn try_nested(&self) -> Result<Value, Problems> {
        let mut root = Value::Object(Map::new());
        for (path, value) in &self.0 {
            let mut place = &mut root;
            for name in path.split('.') {
                let object = place.as_object_mut().ok_or_else(|| Problems::one(path, "is below a value that is no object"))?;
                place = object.entry(name).or_insert_with(|| Value::Object(Map::new()));
            }
            if !is_empty_object(value) {
                *place = value.clone();
            }
        }
        Ok(root)
    }

    /// What a level holds that is not by default so.
    pub fn overrides(&self, level: Level) -> Value {
        let defaults = Self::defaults();
        let is_own = |path: &str, value: &Value| match documents::document_of(path) {
            // Whole or not at all: a document without a text is another one than ours, which has one.
            Some(document) => !self.below(document).eq(defaults.below(document)),
            None => defaults.0.get(path) != Some(value) && !is_empty_object(value),
        };
        let own = self.0.iter().filter(|(path, value)| level.holds(path) && is_own(path, value));
        Self(own.map(|(path, value)| (path.clone(), value.clone())).collect()).nested()
    }

    fn below<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a String, &'a Value)> {
        self.0.range(path.to_owned()..).take_while(move |(found, _)| found.starts_with(path))
    }

    fn defaults() -> Self {
        let mut flat = BTreeMap::new();
        flatten(String::new(), defaults::defaults(), &mut flat);
        Self(flat)
    }

    /// Takes out everything that a level holds.
    pub fn clear(&mut self, level: Level) {
        self.0.retain(|path, _| !level.holds(path));
    }

    /// Takes out a key, with everything below it; what is missing then has its default.
    pub fn reset(&mut self, level: Level, key: &str) -> Result<(), Problems> {
        if !level.holds(key) {
            return Err(Problems::one(key, "is no key of this level"));
        }
        if key.ends_with(".clientSecret") || ["emails.server.password", "auth.botChallenge.secretKey"].contains(&key) {
            return Err(Problems::one(key, "cannot be reset: what it is a secret of would have none"));
        }
        let below = format!("{key}.");
        self.0.retain(|path, _| !((path == key || path.starts_with(&below)) && level.holds(path)));
        Ok(())
    }

    /// Puts values in the places of what is at their keys: each value replaces everything below its key, and `null` takes it out.
    pub fn merge(&mut self, level: Level, values: Map<String, Value>) -> Result<(), Problems> {
        for (key, value) in values {
            let mut flat = BTreeMap::new();
            flatten(key.clone(), value, &mut flat);
            if let Some(path) = flat.keys().chain([&key]).find(|path| !level.holds(path) || path.split('.').any(str::is_empty)) {
                return Err(Problems::one(path, "is no key of this level"));
            }
            let below = format!("{key}.");
            self.0.retain(|path, _| !((*path == key || path.starts_with(&below)) && level.holds(path)));
            for path in flat.keys() {
                if let Some(other) = documents::other_name(path) {
                    self.0.remove(&other);
                }
            }
            self.0.extend(flat.into_iter().filter(|(_, value)| !value.is_null()));
        }
        Ok(())
    }
}

/// How users sign up and in.
fn auth(config: &ProjectConfig, providers: Map<String, Value>, rules: Map<String, Value>) -> Value {
    let challenge = &config.bot_challenge;
    json!({
        "allowSignUp": config.sign_up_enabled,
        "password": { "allowSignIn": config.credential_enabled },
        "otp": { "allowSignIn": config.magic_link_enabled },
        "passkey": { "allowSignIn": config.passkey_enabled },
        "oauth": { "accountMergeStrategy": config.oauth_account_merge_strategy, "providers": providers },
        "sessions": {
            "maxAgeSeconds": config.sessions.max_age_seconds,
            "maxIdleSeconds": config.sessions.max_idle_seconds,
        },
        "reauthentication": { "maxAgeSeconds": config.reauthentication_max_age_seconds },
        "botChallenge": {
            "provider": challenge.provider,
            "siteKey": challenge.turnstile.as_ref().map(|turnstile| &turnstile.site_key),
            "signUp": challenge.sign_up,
            "sendSignInCode": challenge.send_sign_in_code,
            "oauth": challenge.oauth,
            "usualRequestsPerHour": challenge.usual_requests_per_hour,
        },
        "signUpRules": rules,
        "signUpRulesDefaultAction": config.sign_up_rules_default_action,
    })
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

fn flatten(path: String, value: Value, into: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(object) if !object.is_empty() => {
            for (name, value) in object {
                let path = if path.is_empty() { name } else { format!("{path}.{name}") };
                flatten(path, value, into);
            }
        }
        value => drop(into.insert(path, value)),
    }
}

/// By which name a configuration has each domain: the one that it was written by, or one of our own.
fn domain_names(project: &Project) -> Vec<String> {
    let names = &project.config.domain_names;
    let mut free: Vec<&String> = names.keys().collect();
    let mut number = 0;
    let mut name = |domain: &str| {
        let own = free.iter().position(|name| names[*name] == domain).map(|index| free.remove(index).clone());
        own.unwrap_or_else(|| {
            loop {
                number += 1;
                let name = format!("domain{number}");
                if !names.contains_key(&name) {
                    return name;
                }
            }
        })
    };
    project.config.domains.iter().map(|domain| name(&domain.domain)).collect()
}

fn of_provider(provider: &OAuthProvider) -> Value {
    let kind = if catalog::find(&provider.id).is_some() { provider.id.as_str() } else { CUSTOM_PROVIDER };
    let mut value = json!({
        "type": kind,
        "isShared": false,
        "allowSignIn": true,
        "allowConnectedAccounts": true,
        "clientId": provider.client_id,
    });
    let others = [
        ("issuer", &provider.issuer),
        ("authorizationEndpoint", &provider.authorization_endpoint),
        ("facebookConfigId", &provider.facebook_config_id),
        ("microsoftTenantId", &provider.microsoft_tenant_id),
    ];
    for (name, text) in others {
        if let Some(text) = text {
            value[name] = json!(text);
        }
    }
    value
}

fn of_rule(rule: &SignUpRule) -> Value {
    let mut value = json!({
        "enabled": rule.enabled, "priority": rule.priority, "condition": rule.condition, "action": rule.action,
    });
    if let Some(name) = &rule.display_name {
        value["displayName"] = json!(line::stripped(name));
    }
    value
}
