//! Tests of changes to a configuration, without a table.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use wire::id::ProjectId;

use crate::project::config::documents::MailDocuments;
use crate::project::config::settings::Config;
use crate::project::config::{ChangedProject, Level, LevelChange, LevelDocuments, Levels};
use crate::project::mail_server::MailServer;
use crate::project::{EmailConfig, Project};
use crate::setting::testing::{in_deployment, sealer};

pub(super) fn object(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

/// The project after merging values at a level, or the problems.
fn merged(project: &Project, level: Level, values: Value) -> Result<Project, String> {
    changed(project, level, &LevelChange::Merge(object(values)))
}

fn changed(project: &Project, level: Level, change: &LevelChange) -> Result<Project, String> {
    apply(Levels::of(project), project, level, change).map(|changed| changed.project)
}

pub(super) fn apply(levels: Levels, project: &Project, level: Level, change: &LevelChange) -> Result<ChangedProject, String> {
    with_documents(levels, (project, &LevelDocuments::default()), level, change)
}

pub(super) fn with_documents(
    levels: Levels,
    (project, documents): (&Project, &LevelDocuments),
    level: Level,
    change: &LevelChange,
) -> Result<ChangedProject, String> {
    let now = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1);
    let changed = in_deployment(|deployment| super::change(levels, (level, change), (project.clone(), documents), deployment, now));
    changed.map_err(|problems| problems.to_string())
}

pub(super) fn project() -> Project {
    Project::new(ProjectId::internal(), "Notes", Timestamp::UNIX_EPOCH)
}

/// A project with providers, a sign-up rule, domains, a mail server and default permissions.
fn furnished() -> Project {
    let values = json!({
        "auth.otp.allowSignIn": true,
        "auth.oauth.providers.github": { "type": "github", "clientId": "id", "clientSecret": "secret", "allowSignIn": true },
        "auth.oauth.providers.own": { "type": "custom_oidc", "clientId": "id", "clientSecret": "secret", "issuer": "https://id.example.com" },
        "auth.signUpRules.b": { "condition": "email == 'a@b.c'", "action": { "type": "reject", "message": "no" }, "displayName": "B" },
        "domains.trustedDomains.web": { "baseUrl": "https://web.example.com/" },
        "domains.trustedDomains.app": { "baseUrl": "https://app.example.com", "handlerPath": "/x" },
        "emails.server": {
            "isShared": false, "senderEmail": "notes@example.com", "senderName": "Notes",
            "host": "mail.example.com", "port": 465, "username": "notes", "password": "secret",
        },
        "rbac.defaultPermissions.teamMember": { "team_member": true, "team_admin": false },
    });
    merged(&project(), Level::Environment, values).expect("valid")
}

#[test]
fn a_project_survives_serialisation() {
    for project in [project(), furnished()] {
        assert_eq!(merged(&project, Level::Environment, json!({})).as_ref(), Ok(&project));
        let levels = Levels::of(&project);
        let stored = serde_json::from_str(&serde_json::to_string(&levels).expect("JSON")).expect("levels");
        assert_eq!(levels, stored);
    }
    let config = Config::of(&furnished(), &MailDocuments::default()).nested();
    assert!(!config.to_string().contains("\"secret\""), "{config}");
    let shown = |path: &str| config.pointer(path).cloned().unwrap_or_default();
    for path in ["/auth/oauth/providers/github/clientSecret", "/auth/oauth/providers/own/clientSecret", "/emails/server/password"] {
        assert_eq!(shown(path), "********", "{path}");
    }
    let nothing = Config::of(&project(), &MailDocuments::default()).nested();
    assert_eq!((&nothing["emails"]["server"]["password"], &nothing["auth"]["botChallenge"]["secretKey"]), (&Value::Null, &Value::Null));
}

#[test]
fn names_stored_before_validation_do_not_block_changes() {
    let mut old = furnished();
    old.config.sign_up_rules[0].display_name = Some("Staff\u{202e}\n".to_owned());
    old.config.email.sender_name = Some("No\u{200b}tes".to_owned());
    let new = merged(&old, Level::Environment, json!({ "auth.otp.allowSignIn": false })).expect("valid").config;
    assert_eq!((new.sign_up_rules[0].display_name.as_deref(), new.email.sender_name.as_deref()), (Some("Staff"), Some("Notes")));
    let written = json!({ "auth.signUpRules.b.displayName": "Staff\u{202e}" });
    let refused = merged(&old, Level::Environment, written).expect_err("a wrong name");
    assert!(refused.starts_with("auth.signUpRules.b.displayName must be one line"), "{refused}");
}

#[test]
fn dotted_keys_and_objects_are_equivalent() {
    let one =
        merged(&project(), Level::Environment, json!({ "teams.allowClientTeamCreation": true, "teams.createPersonalTeamOnSignUp": true }));
    let other = json!({ "teams": { "allowClientTeamCreation": true, "createPersonalTeamOnSignUp": true } });
    assert_eq!(one, merged(&project(), Level::Environment, other));
}

#[test]
fn a_value_replaces_everything_below_its_key_and_null_removes_it() {
    let project = furnished();
    let rules = json!({ "auth.signUpRules": { "c": { "condition": "true", "action": { "type": "log" } } } });
    let changed = merged(&project, Level::Environment, rules).expect("valid");
    assert_eq!(changed.config.sign_up_rules.iter().map(|rule| rule.id.as_str()).collect::<Vec<_>>(), ["c"]);
    let none = merged(&project, Level::Environment, json!({ "auth.signUpRules": {}, "domains.trustedDomains.web": null })).expect("valid");
    assert!(none.config.sign_up_rules.is_empty());
    assert_eq!(none.config.domains.iter().map(|domain| domain.domain.as_str()).collect::<Vec<_>>(), ["https://app.example.com"]);
    assert!(!merged(&project, Level::Environment, json!({ "auth.otp": null })).expect("valid").config.magic_link_enabled);
}

#[test]
fn a_domain_keeps_its_id() {
    let path = merged(&furnished(), Level::Environment, json!({ "domains.trustedDomains.app.handlerPath": "/y" })).expect("valid");
    let paths: Vec<(&str, &str)> =
        path.config.domains.iter().map(|domain| (domain.domain.as_str(), domain.handler_path.as_str())).collect();
    assert_eq!(paths, [("https://app.example.com", "/y"), ("https://web.example.com", "/handler")]);
}

#[test]
fn a_provider_keeps_its_secret_for_the_same_client_id() {
    let project = furnished();
    let secret = |project: &Project| project.config.oauth_provider("github").expect("a provider").client_secret.clone();
    let same = merged(&project, Level::Environment, json!({ "auth.oauth.providers.github.facebookConfigId": "other" })).expect("valid");
    assert_eq!(secret(&same), secret(&project));
    let moved = merged(&project, Level::Environment, json!({ "auth.oauth.providers.github.clientId": "other" }));
    assert!(moved.is_err(), "a new client id requires a new secret");
    let other = merged(&project, Level::Environment, json!({ "auth.oauth.providers.github.clientSecret": "other" })).expect("valid");
    assert_ne!(secret(&other), secret(&project));
}

fn with_server(fields: Value) -> Value {
    let mut server = json!({ "isShared": false, "senderEmail": "notes@example.com" });
    server.as_object_mut().expect("an object").extend(object(fields));
    json!({ "emails.server": server })
}

#[test]
fn a_mail_server_keeps_its_password_for_the_same_destination() {
    let project = furnished();
    let password = |project: &Project| {
        let server = project.config.email.server.clone().expect("a server");
        server.login.expect("a login").password
    };
    let same =
        json!({ "emails.server.senderName": "Other", "emails.server.password": "********", "emails.server.host": "MAIL.example.com" });
    let same = merged(&project, Level::Environment, same).expect("valid");
    assert_eq!(password(&same), password(&project));
    let other = merged(&project, Level::Environment, json!({ "emails.server.password": "other" })).expect("valid");
    assert_ne!(password(&other), password(&project));
    for (key, value) in [("host", json!("evil.example.com")), ("port", json!(587)), ("username", json!("other"))] {
        let values = json!({ format!("emails.server.{key}"): value });
        let refused = merged(&project, Level::Environment, values).expect_err("another server");
        assert!(refused.starts_with("emails.server.password is required"), "{refused}");
    }
    let shared = merged(&project, Level::Environment, json!({ "emails.server.isShared": true })).expect("valid");
    assert_eq!(shared.config.email, EmailConfig::default());
}

#[test]
fn a_password_opens_only_for_its_project_server_and_user() {
    let sealer = sealer();
    let server = furnished().config.email.server.expect("a server");
    let password = server.login.clone().expect("a login").password;
    let opens = |server: &MailServer, project: &str, user: &str| sealer.open(&server.password_owner(project, user), &password).is_ok();
    assert!(opens(&server, "internal", "notes"));
    assert!(!opens(&server, "other", "notes") && !opens(&server, "internal", "other"));
    assert!(!opens(&MailServer { host: "evil.example.com".to_owned(), ..server.clone() }, "internal", "notes"));
    assert!(!opens(&MailServer { port: 587, ..server }, "internal", "notes"));
}

#[test]
fn a_level_has_only_its_own_keys() {
    for (level, path) in [
        (Level::Project, "auth.allowSignUp"),
        (Level::Environment, "project.requirePublishableClientKey"),
        (Level::Branch, "domains.trustedDomains.a.baseUrl"),
        (Level::Branch, "auth.oauth.providers.github.clientSecret"),
        (Level::Branch, "emails.server"),
        (Level::Environment, "auth..allowSignUp"),
        (Level::Environment, ""),
    ] {
        let refused = merged(&project(), level, json!({ path: true })).expect_err(path);
        assert!(refused.starts_with(path) && refused.contains("not a key of this level"), "{refused}");
    }
    let nested = json!({ "auth": { "oauth": { "providers": { "github": { "clientId": "x" } } } } });
    assert!(merged(&project(), Level::Branch, nested).expect_err("of the environment").starts_with("auth.oauth.providers.github.clientId"));
    let key = merged(&project(), Level::Project, json!({ "project.requirePublishableClientKey": true })).expect("valid");
    assert!(key.config.require_publishable_client_key);
}

#[test]
fn the_overrides_of_a_level_are_its_values_that_are_not_defaults() {
    let config = Config::of(&furnished(), &MailDocuments::default());
    let branch = config.overrides(Level::Branch);
    assert_eq!(branch["auth"]["otp"], json!({ "allowSignIn": true }));
    assert_eq!((&branch["emails"], &branch["teams"], &branch["project"]), (&Value::Null, &Value::Null, &Value::Null));
    assert_eq!(branch["auth"]["oauth"]["providers"]["own"]["type"], "custom_oidc");
    let environment = config.overrides(Level::Environment);
    assert_eq!(
        environment["emails"],
        json!({ "server": {
            "isShared": false, "senderEmail": "notes@example.com", "senderName": "Notes",
            "host": "mail.example.com", "port": 465, "username": "notes", "password": "********",
        } })
    );
    assert_eq!(environment["domains"]["trustedDomains"]["app"]["handlerPath"], "/x");
    assert_eq!(config.overrides(Level::Project), json!({}));
}

#[test]
fn replacing_a_level_leaves_the_others() {
    let project = furnished();
    let none = |level| changed(&project, level, &LevelChange::Replace(Map::new())).expect("valid");
    assert_eq!(none(Level::Branch), project);
    let cleared = none(Level::Environment);
    assert!(!cleared.config.magic_link_enabled && !cleared.config.credential_enabled && cleared.config.sign_up_enabled);
    assert!(cleared.config.domains.is_empty() && cleared.config.oauth_providers.is_empty() && cleared.config.email.sender_email.is_none());
    assert!(cleared.config.idle_oauth_providers.is_empty(), "no level contains settings for these providers");
}

#[test]
fn keys_are_reset_to_their_defaults() {
    let project = furnished();
    let reset = |level, keys: &[&str]| changed(&project, level, &LevelChange::Reset(keys.iter().map(|key| (*key).to_owned()).collect()));
    let done = reset(Level::Environment, &["auth.otp", "auth.oauth.providers.own", "emails.server", "payments.unknown"]).expect("valid");
    assert!(!done.config.magic_link_enabled && done.config.oauth_provider("own").is_none() && done.config.email.sender_email.is_none());
    assert!(done.config.oauth_provider("github").is_some());
    assert!(reset(Level::Project, &["auth.otp"]).is_err());
    for secret in ["auth.oauth.providers.github.clientSecret", "emails.server.password"] {
        assert!(reset(Level::Environment, &[secret]).is_err());
    }
}

#[test]
fn an_invalid_value_is_reported_by_its_path() {
    for (values, path) in [
        (json!({ "auth.allowSignUp": "yes" }), "auth.allowSignUp must be a boolean"),
        (json!({ "auth.allowSignUps": true }), "auth.allowSignUps is not known"),
        (json!({ "auth": 5 }), "auth must be an object"),
        (json!({ "auth.otp.allowSignIn.x": true }), "auth.otp.allowSignIn must be a boolean, not an object"),
        (json!({ "emails.server.secure": true }), "emails.server.secure is not known"),
        (with_server(json!({ "host": "mail.example.com" })), "emails.server.port is required"),
        (with_server(json!({ "host": "mail example", "port": 465 })), "emails.server.host"),
        (with_server(json!({ "port": 465 })), "emails.server.host is required"),
        (with_server(json!({ "host": "mail.example.com", "port": 70000 })), "emails.server.port"),
        (with_server(json!({ "host": "mail.example.com", "port": 465, "password": "x" })), "emails.server.username is required"),
        (with_server(json!({ "host": "mail.example.com", "port": 465, "username": "x" })), "emails.server.password is required"),
        (
            with_server(json!({ "host": "mail.example.com", "port": 465, "username": "x", "password": "********" })),
            "emails.server.password",
        ),
        (with_server(json!({ "host": "mail.example.com", "port": 465, "username": "x\ny", "password": "x" })), "emails.server.username"),
        (json!({ "emails.server.isShared": false }), "emails.server.senderEmail"),
        (json!({ "emails.server.provider": "resend" }), "emails.server.provider"),
        (
            json!({ "auth.oauth.providers.github": { "clientId": "x", "type": "google" } }),
            "auth.oauth.providers.github.type must be github",
        ),
        (json!({ "auth.oauth.providers.github": { "clientId": "x", "isShared": true } }), "auth.oauth.providers.github.isShared"),
        (
            json!({ "auth.oauth.providers.github": { "clientId": "x", "allowConnectedAccounts": false } }),
            "auth.oauth.providers.github.allowConnectedAccounts",
        ),
        (json!({ "auth.oauth.providers.github": { "clientId": "x" } }), "auth.oauth.providers.github.clientSecret is required"),
        (json!({ "auth.signUpRules.x": { "condition": "1 +", "action": { "type": "reject" } } }), "auth.signUpRules.x.condition"),
        (json!({ "auth.signUpRules.x": { "condition": "true", "action": { "type": "hit" } } }), "auth.signUpRules.x.action.type"),
        (json!({ "auth.signUpRules": 1 }), "auth.signUpRules must be an object"),
        (json!({ "rbac.defaultPermissions.signUp.x": 1 }), "rbac.defaultPermissions.signUp.x must be a boolean"),
        (json!({ "domains.trustedDomains.x": { "baseUrl": "notes" } }), "domains.trustedDomains.x.baseUrl"),
        (
            json!({ "domains.trustedDomains.x": { "baseUrl": "https://a.test", "handlerPath": "x" } }),
            "domains.trustedDomains.x.handlerPath",
        ),
        (json!({ "rbac.defaultPermissions.teamMember.nobody": true }), "rbac.defaultPermissions.teamMember"),
        (json!({ "rbac.defaultPermissions.signUp.No-Id": true }), "rbac.defaultPermissions.signUp.No-Id"),
    ] {
        let refused = merged(&project(), Level::Environment, values).expect_err(path);
        assert!(refused.starts_with(path), "{path}: {refused}");
    }
}
