//! The settings of a project as a configuration.

use serde_json::{Map, Value, json};
use wire::problem::Problems;

use crate::permission::Occasion;
use crate::project::config::documents::MailDocuments;
use crate::project::config::flat::{Flat, flatten};
use crate::project::config::level::Level;
use crate::project::config::parts::CUSTOM_PROVIDER;
use crate::project::config::{defaults, notices, permissions};
use crate::project::{OAuthProvider, Project, ProjectConfig};
use crate::provider::catalog;
use crate::setting::HIDDEN_SECRET;
use crate::sign_up::rule::SignUpRule;
use crate::text::line;

/// The values of a configuration, by path.
#[derive(Debug, Clone, PartialEq)]
pub struct Config(pub(crate) Flat);

impl Config {
    /// The settings and documents of a project, including all defaults, with [`HIDDEN_SECRET`] in
    /// place of each secret.
    pub fn of(project: &Project, documents: &MailDocuments) -> Self {
        let config = &project.config;
        let of_id = |id: &str, value: Value| (id.to_owned(), value);
        let providers: Map<_, _> = config.oauth_providers.iter().map(|provider| of_id(&provider.id, provider_value(provider))).collect();
        let rules: Map<_, _> = config.sign_up_rules.iter().map(|rule| of_id(&rule.id, rule_value(rule))).collect();
        let domains: Map<_, _> = domain_names(project)
            .into_iter()
            .zip(&config.domains)
            .map(|(name, domain)| (name, json!({ "baseUrl": domain.domain, "handlerPath": domain.handler_path })))
            .collect();
        let defaults = |occasion: Occasion| -> Map<_, _> {
            config.rbac.defaults(occasion).iter().map(|id| (id.to_string(), Value::Bool(true))).collect()
        };
        let (email, server) = (&config.email, config.email.server.as_ref());
        let login = server.and_then(|server| server.login.as_ref());
        let nested = json!({
            "project": { "requirePublishableClientKey": config.require_publishable_client_key },
            "auth": auth(config, providers, rules),
            "domains": { "allowLocalhost": config.allow_localhost, "trustedDomains": domains },
            "users": {
                "allowClientUserDeletion": config.client_user_deletion_enabled,
                "allowAnonymousCreation": config.quotas.anonymous,
            },
            "teams": {
                "createPersonalTeamOnSignUp": config.create_team_on_sign_up,
                "allowClientTeamCreation": config.client_team_creation_enabled,
                "allowMemberInvitations": config.rbac.members_invite,
                "maxPerUser": config.quotas.teams_per_user,
            },
            "onboarding": { "requireEmailVerification": config.require_email_verification },
            "apiKeys": { "enabled": { "user": config.user_api_keys_enabled, "team": config.team_api_keys_enabled } },
            "auditLog": { "retentionDays": config.audit_log_retention_days },
            "emails": {
                "server": {
                    "isShared": email.sender_email.is_none(),
                    "provider": "smtp",
                    "host": server.map(|server| &server.host),
                    "port": server.map(|server| server.port),
                    "username": login.map(|login| &login.username),
                    "password": login.map(|_| HIDDEN_SECRET),
                    "senderName": email.sender_name.as_deref().map(line::stripped),
                    "senderEmail": email.sender_email,
                },
                "selectedThemeId": email.theme(),
                "notices": notices::to_value(config),
                "templates": documents.templates(),
                "themes": documents.themes(),
            },
            "rbac": { "permissions": permissions::to_map(&config.rbac), "defaultPermissions": {
                "teamCreator": defaults(Occasion::TeamCreator),
                "teamMember": defaults(Occasion::TeamMember),
                "signUp": defaults(Occasion::SignUp),
            } },
        });
        let mut flat = Flat::new();
        flatten(String::new(), nested, &mut flat);
        Self(flat)
    }

    /// The configuration as JSON, with nested objects.
    pub fn nested(&self) -> Value {
        // This cannot fail: neither settings nor results of `flat::without_shadowed` contain a
        // value below another value.
        self.try_nested().unwrap_or_default()
    }

    pub(crate) fn try_nested(&self) -> Result<Value, Problems> {
        let mut root = Value::Object(Map::new());
        for (path, value) in &self.0 {
            let mut place = &mut root;
            for name in path.split('.') {
                let object = place.as_object_mut().ok_or_else(|| Problems::one(path, "is nested in a value that is not an object"))?;
                place = object.entry(name).or_insert_with(|| Value::Object(Map::new()));
            }
            if !is_empty_object(value) {
                *place = value.clone();
            }
        }
        Ok(root)
    }

    /// The values that can be set at a level and differ from the defaults.
    pub(crate) fn overrides(&self, level: Level) -> Value {
        let defaults = Self::defaults();
        let is_own = |path: &str, value: &Value| defaults.0.get(path) != Some(value) && !is_empty_object(value);
        let own = self.0.iter().filter(|(path, value)| level.holds(path) && is_own(path, value));
        Self(own.map(|(path, value)| (path.clone(), value.clone())).collect()).nested()
    }

    fn defaults() -> Self {
        let mut flat = Flat::new();
        flatten(String::new(), defaults::defaults(), &mut flat);
        Self(flat)
    }
}

/// The settings for signing up and signing in.
fn auth(config: &ProjectConfig, providers: Map<String, Value>, rules: Map<String, Value>) -> Value {
    let challenge = &config.bot_challenge;
    json!({
        "allowSignUp": config.sign_up_enabled,
        "password": { "allowSignIn": config.credential_enabled },
        "otp": { "allowSignIn": config.magic_link_enabled },
        "passkey": {
            "allowSignIn": config.passkeys.enabled,
            "rpIds": config.passkeys.rp_ids,
            "userVerification": config.passkeys.user_verification,
            "replacesSecondFactor": config.passkeys.replaces_second_factor,
        },
        "oauth": { "accountMergeStrategy": config.oauth_account_merge_strategy, "providers": providers },
        "sessions": {
            "maxAgeSeconds": config.sessions.max_age_seconds,
            "maxIdleSeconds": config.sessions.max_idle_seconds,
        },
        "reauthentication": { "maxAgeSeconds": config.reauthentication_max_age_seconds },
        "secondFactor": second_factor(config),
        "botChallenge": {
            "provider": challenge.provider,
            "siteKey": challenge.turnstile.as_ref().map(|turnstile| &turnstile.site_key),
            "secretKey": challenge.turnstile.as_ref().map(|_| HIDDEN_SECRET),
            "signUp": challenge.sign_up,
            "sendSignInCode": challenge.send_sign_in_code,
            "oauth": challenge.oauth,
            "usualRequestsPerHour": challenge.usual_requests_per_hour,
        },
        "signUpRules": rules,
        "signUpRulesDefaultAction": config.sign_up_rules_default_action,
    })
}

fn second_factor(config: &ProjectConfig) -> Value {
    let settings = &config.second_factor;
    let teams: Map<_, _> = settings.required_of_teams.iter().map(|id| (id.to_string(), Value::Bool(true))).collect();
    let permissions: Map<_, _> = settings.permissions(&config.rbac).iter().map(|id| (id.to_string(), Value::Bool(true))).collect();
    json!({
        "rememberDeviceDays": settings.remember_device_days,
        "requiredOfEveryone": settings.required_of_everyone,
        "requiredOfTeams": teams,
        "requiredOfPermissions": permissions,
    })
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

/// The name of each domain in the configuration: the configured name or, without one, a generated
/// name.
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

fn provider_value(provider: &OAuthProvider) -> Value {
    let kind = if catalog::find(&provider.id).is_some() { provider.id.as_str() } else { CUSTOM_PROVIDER };
    let mut value = json!({
        "type": kind,
        "isShared": provider.is_shared(),
        "allowSignIn": true,
        "allowConnectedAccounts": true,
    });
    if !provider.is_shared() {
        value["clientId"] = json!(provider.client_id);
        value["clientSecret"] = json!(HIDDEN_SECRET);
    }
    if !provider.apple_bundles.is_empty() {
        let bundles = provider.apple_bundles.iter().map(|(name, id)| (name.clone(), json!({ "bundleId": id })));
        value["appleBundles"] = Value::Object(bundles.collect());
    }
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

fn rule_value(rule: &SignUpRule) -> Value {
    let mut value = json!({
        "enabled": rule.enabled, "priority": rule.priority, "condition": rule.condition, "action": rule.action,
    });
    if let Some(name) = &rule.display_name {
        value["displayName"] = json!(line::stripped(name));
    }
    value
}
