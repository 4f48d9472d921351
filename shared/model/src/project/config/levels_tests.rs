//! Tests of how the levels of a configuration are merged.

use serde_json::{Value, json};

use super::tests::{apply, object, project};
use crate::permission::{PermissionId, Scope};
use crate::project::Project;
use crate::project::config::settings::Config;
use crate::project::config::{ChangedProject, Level, LevelChange, LevelDocuments, Levels};
use crate::project::config_patch::ConfigPatch;
use crate::sign_up::rule::ActionType;

/// A project and the levels of its configuration.
pub(super) struct State(pub(super) Project, pub(super) Levels);

impl State {
    pub(super) fn new() -> Self {
        let project = project();
        let levels = Levels::of(&project);
        Self(project, levels)
    }

    pub(super) fn change(self, level: Level, change: &LevelChange) -> Result<Self, String> {
        let ChangedProject { project, levels, .. } = apply(self.1, &self.0, level, change)?;
        Ok(Self(project, levels))
    }

    pub(super) fn merge(self, level: Level, values: Value) -> Self {
        self.change(level, &LevelChange::Merge(object(values))).map_err(drop).expect("valid")
    }

    pub(super) fn push(self, values: Value) -> Self {
        self.change(Level::Branch, &LevelChange::Replace(object(values))).map_err(drop).expect("valid")
    }

    pub(super) fn reset(self, level: Level, key: &str) -> Self {
        self.change(level, &LevelChange::Reset(vec![key.to_owned()])).map_err(drop).expect("valid")
    }

    fn offers(&self, id: &str) -> bool {
        self.0.config.oauth_provider(id).is_some()
    }
}

#[test]
fn values_of_the_environment_survive_every_push() {
    let state = State::new().merge(Level::Environment, json!({ "auth.otp.allowSignIn": true }));
    let state = state.push(
        json!({ "auth": { "otp": { "allowSignIn": false }, "password": { "allowSignIn": false } }, "teams.allowClientTeamCreation": true }),
    );
    let config = &state.0.config;
    assert!(config.magic_link_enabled && config.credential_enabled && config.client_team_creation_enabled);
    let state = state.reset(Level::Environment, "auth");
    assert!(!state.0.config.magic_link_enabled && !state.0.config.credential_enabled);
    // `null` at the environment means the default value.
    let state = state.merge(Level::Environment, json!({ "teams.allowClientTeamCreation": null }));
    assert!(!state.0.config.client_team_creation_enabled);
    assert_eq!(Value::Object(state.1.at(Level::Environment).clone())["teams.allowClientTeamCreation"], Value::Null);
}

#[test]
fn an_object_of_the_environment_replaces_the_longer_keys_of_the_branch() {
    let state = State::new().push(json!({ "teams.allowClientTeamCreation": true, "teams.createPersonalTeamOnSignUp": true }));
    let state = state.merge(Level::Environment, json!({ "teams": { "allowMemberInvitations": false } }));
    let config = &state.0.config;
    assert!(!config.client_team_creation_enabled && !config.create_team_on_sign_up && !config.rbac.members_invite);
    // The environment's longer key replaces one member of the branch's object.
    let state = State::new().push(json!({ "teams": { "allowClientTeamCreation": true, "createPersonalTeamOnSignUp": true } }));
    let state = state.merge(Level::Environment, json!({ "teams.createPersonalTeamOnSignUp": false }));
    assert!(state.0.config.client_team_creation_enabled && !state.0.config.create_team_on_sign_up);
}

#[test]
fn the_environment_completes_a_provider_of_the_branch() {
    let offered = json!({ "auth.oauth.providers.github": { "type": "github", "allowSignIn": true } });
    let state = State::new().push(offered.clone());
    assert!(!state.offers("github"), "no client id yet");
    let state = state.merge(
        Level::Environment,
        json!({ "auth.oauth.providers.github.clientId": "id", "auth.oauth.providers.github.clientSecret": "the-secret" }),
    );
    assert!(state.offers("github"));
    let secret = state.0.config.oauth_providers[0].client_secret.clone();
    assert!(!serde_json::to_string(&state.1).expect("JSON").contains("the-secret"));
    // The secret is kept even while the branch does not define the provider.
    for none in [json!({}), json!({ "auth.oauth.providers.github": { "type": "github", "allowSignIn": false } })] {
        let state = State(state.0.clone(), state.1.clone()).push(none);
        assert!(!state.offers("github"));
        assert_eq!(state.0.config.idle_oauth_providers[0].client_secret, secret);
        let state = state.push(offered.clone());
        assert_eq!(state.0.config.oauth_providers[0].client_secret, secret);
        // If the environment does not contain settings for the provider, the provider is removed
        // together with its secret.
        let state = state.reset(Level::Environment, "auth.oauth.providers");
        assert!(state.0.config.oauth_providers.is_empty() && state.0.config.idle_oauth_providers.is_empty());
    }
    let moved = LevelChange::Merge(object(json!({ "auth.oauth.providers.github.clientId": "other" })));
    assert!(state.change(Level::Environment, &moved).is_err(), "a new client id requires a new secret");
}

#[test]
fn an_entry_has_no_effect_once_another_level_removes_its_required_fields() {
    let permission = json!({ "rbac.permissions.vote": { "scope": "project" } });
    let state = State::new().push(permission).merge(Level::Environment, json!({ "rbac.permissions.vote.description": "Votes" }));
    let id = PermissionId::parse("vote").expect("an id");
    assert!(state.0.config.rbac.read(&id, Scope::Project).is_ok());
    let state = state.push(json!({}));
    assert!(state.0.config.rbac.read(&id, Scope::Project).is_err());
    let fragment = LevelChange::Merge(object(json!({ "domains.trustedDomains.a.handlerPath": "/x" })));
    assert!(
        state.change(Level::Environment, &fragment).is_err_and(|refused| refused.contains("domains.trustedDomains.a.baseUrl is required"))
    );
}

#[test]
fn a_rule_without_a_condition_has_no_effect_until_a_level_sets_one() {
    let state =
        State::new().merge(Level::Environment, json!({ "auth.signUpRules.a": { "enabled": true, "action": { "message": "later" } } }));
    assert!(state.0.config.sign_up_rules.is_empty());
    let whole = Config::whole(&state.0, &LevelDocuments::default(), &state.1);
    let shown = json!({ "enabled": true, "priority": 0, "action": { "type": "allow", "message": "later" } });
    assert_eq!(whole["auth"]["signUpRules"]["a"], shown);
    let state = state.push(json!({ "auth.signUpRules.a.condition": "true" }));
    assert!(state.0.config.sign_up_rules.is_empty(), "the entry of the environment replaces the key of the branch");
    let state = state.merge(Level::Environment, json!({ "auth.signUpRules.a.condition": "email == ''" }));
    let rule = &state.0.config.sign_up_rules[0];
    assert_eq!((rule.condition.as_str(), rule.action.r#type), ("email == ''", ActionType::Allow));
    let state = state.merge(Level::Environment, json!({ "auth.signUpRules.a.condition": null }));
    assert!(state.0.config.sign_up_rules.is_empty());
}

#[test]
fn values_below_another_value_are_left_out_of_the_configuration() {
    let values =
        json!({ "apps.x": 1, "apps.x.y": 2, "payments.items": [], "payments.items.seats.n": 3, "dataVault": {}, "dataVault.z": 4 });
    let state = State::new().push(values);
    let whole = Config::whole(&state.0, &LevelDocuments::default(), &state.1);
    assert_eq!((&whole["apps"]["x"], &whole["payments"]["items"], &whole["dataVault"]["z"]), (&json!(1), &json!([]), &json!(4)));
    assert_eq!(whole["auth"]["allowSignUp"], true);
}

#[test]
fn an_idle_provider_is_shown_with_its_defaults_and_without_its_secret() {
    let State(project, levels) = State::new().merge(
        Level::Environment,
        json!({ "auth.oauth.providers.github": { "type": "github", "clientId": "id", "clientSecret": "a-secret", "allowSignIn": false } }),
    );
    // Earlier versions stored levels without the placeholder for the secret.
    let mut stored = serde_json::to_value(&levels).expect("JSON");
    let older = stored["environment"].as_str().expect("text").replace(r#""clientSecret":"********","#, "");
    assert_ne!(stored["environment"], older);
    stored["environment"] = json!(older);
    for levels in [levels, serde_json::from_value(stored).expect("levels")] {
        let whole = Config::whole(&project, &LevelDocuments::default(), &levels);
        let shown = json!({
            "type": "github", "clientId": "id", "clientSecret": "********", "isShared": false, "allowSignIn": false, "allowConnectedAccounts": true,
        });
        assert_eq!(whole["auth"]["oauth"]["providers"]["github"], shown);
    }
}

#[test]
fn values_that_another_level_overrides_are_checked() {
    let state = State::new().merge(Level::Environment, json!({ "auth.otp.allowSignIn": true }));
    for values in [json!({ "auth.otp.allowSignIn": "no" }), json!({ "auth.otp.allowSignIns": true }), json!({ "auth.otp": true })] {
        let refused = apply(state.1.clone(), &state.0, Level::Branch, &LevelChange::Merge(object(values))).expect_err("a wrong type");
        assert!(refused.starts_with("auth.otp"), "{refused}");
    }
}

#[test]
fn areas_without_effect_are_kept_as_they_are() {
    let values = json!({ "apps": { "installed": { "payments": { "enabled": true } } }, "payments.items.seats": { "displayName": "Seats", "n": 1e300 } });
    let state = State::new().push(values.clone());
    assert_eq!(Value::Object(state.1.at(Level::Branch).clone()), values);
    for (level, path) in
        [(Level::Branch, "payments.testMode"), (Level::Branch, "customDashboards.a"), (Level::Environment, "sourceOfTruth.type")]
    {
        assert!(State::new().change(level, &LevelChange::Merge(object(json!({ path: true })))).is_err(), "{path}");
    }
    for (values, path) in [
        (json!({ "dbSync.externalDatabases.a.connectionString": "postgres://u:p@h/d" }), "dbSync.externalDatabases.a.connectionString"),
        (json!({ "apps": { "a.b": true } }), "apps.a.b"),
        (json!({ "apps.-x": true }), "apps.-x"),
        (json!({ "apps": "x".repeat(300_001) }), "must not make"),
    ] {
        let refused = State::new().change(Level::Branch, &LevelChange::Merge(object(values))).err().expect(path);
        assert!(refused.contains(path), "{refused}");
    }
}

#[test]
fn settings_changed_by_other_operations_belong_to_the_environment() {
    let State(mut project, levels) = State::new().push(json!({ "auth.otp.allowSignIn": true, "auth.allowSignUp": false }));
    let patch = ConfigPatch { sign_up_enabled: Some(true), require_publishable_client_key: Some(true), ..ConfigPatch::default() };
    project.config.sign_up_enabled = true;
    project.config.require_publishable_client_key = true;
    let levels = levels.noted(&project, &patch.keys());
    assert_eq!(levels.at(Level::Environment)["auth.allowSignUp"], true);
    assert_eq!(levels.at(Level::Project)["project.requirePublishableClientKey"], true);
    let state = State(project, levels).push(json!({ "auth.allowSignUp": false }));
    assert!(state.0.config.sign_up_enabled && !state.0.config.magic_link_enabled && state.0.config.require_publishable_client_key);
}

#[test]
fn a_project_whose_levels_lack_its_passkeys_keeps_them() {
    let State(mut project, levels) = State::new().push(json!({}));
    project.config.passkeys.enabled = true;
    project.config.passkeys.rp_ids = vec!["example.com".to_owned()];
    let levels = levels.completed(&project);
    let state = State(project.clone(), levels).push(json!({ "auth.passkey.allowSignIn": false }));
    assert_eq!(state.0.config.passkeys, project.config.passkeys);
    // Values that a level already sets are not replaced.
    let state = state.merge(Level::Environment, json!({ "auth.passkey": { "allowSignIn": false } }));
    let State(project, levels) = state;
    assert!(!State(project.clone(), levels.completed(&project)).push(json!({})).0.config.passkeys.enabled);
}

#[test]
fn default_permissions_follow_a_permission_with_a_new_id() {
    let id = |text: &str| PermissionId::parse(text).expect("an id");
    let levels = State::new().push(json!({ "rbac": { "defaultPermissions": { "teamMember": { "team_member": true } } } })).1;
    let renamed = levels.clone().with_permission(&id("team_member"), Some(&id("member")));
    assert_eq!(renamed.rendered()["rbac.defaultPermissions.teamMember.member"], true);
    assert!(!renamed.rendered().contains_key("rbac.defaultPermissions.teamMember.team_member"));
    let deleted = levels.with_permission(&id("team_member"), None);
    assert!(deleted.rendered().keys().all(|path| !path.starts_with("rbac.defaultPermissions.teamMember.")));
}

#[test]
fn paths_have_a_limited_number_of_names() {
    let path = |names: usize| format!("apps{}", ".a".repeat(names - 1));
    let nested = |names: usize| (1..names).fold(json!(1), |value, _| json!({ "a": value }));
    let set = |key: String, value: Value| {
        let change = LevelChange::Merge(object(json!({ key: value })));
        apply(Levels::of(&project()), &project(), Level::Branch, &change).map(|changed| changed.levels)
    };
    let whole = |levels: &Levels| Config::whole(&project(), &LevelDocuments::default(), levels);
    for levels in [set(path(32), json!(1)), set("apps".to_owned(), nested(32)), set(path(16), nested(17))] {
        assert!(whole(&levels.expect("32 names")).to_string().contains(&format!("{}1", "{\"a\":".repeat(31))));
    }
    for (key, value) in [
        (path(33), json!(1)),
        ("apps".to_owned(), nested(33)),
        (path(17), nested(17)),
        (path(100_000), json!(1)),
        (path(100_000).replace("apps", "auth"), json!(1)),
        ("a".repeat(1025), json!(1)),
    ] {
        let refused = set(key, value).expect_err("too many names");
        assert!(refused.contains("must have at most 32 names") || refused.contains("must be at most 1024 bytes long"), "{refused}");
    }
    let reset = LevelChange::Reset(vec![path(100_000)]);
    assert!(apply(Levels::of(&project()), &project(), Level::Branch, &reset).is_err());

    // Earlier versions stored paths with more names than are permitted now.
    let older = json!({ path(100_000): 1, "apps.b": 2 }).to_string();
    let older: Levels = serde_json::from_value(json!({ "project": "{}", "branch": older, "environment": "{}" })).expect("levels");
    assert_eq!((&whole(&older)["apps"]["b"], &whole(&older)["apps"]["a"]), (&json!(2), &Value::Null));
}
