//! The levels of a configuration. The settings of the environment stay in effect, no matter what
//! the branch contains.

use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use support::{Caller, TestApp};

use super::INTERNAL;
use super::config::{CONFIG, assert_done, assert_refused, level, patch, put, read};

async fn push(app: &TestApp, values: Value) {
    assert_done(&put(&app.admin(), "branch", values, true).await);
}

async fn settings(app: &TestApp) -> Value {
    app.admin().get(INTERNAL).await.json()["config"].clone()
}

async fn reset(caller: &Caller, name: &str, keys: &[&str]) {
    assert_done(&caller.post(&format!("{}/reset-keys", level(name)), json!({ "keys": keys })).await);
}

/// The key of the item that contains the levels.
fn key(app: &TestApp) -> (String, String) {
    (format!("P#{}", app.project_id()), "CONFIG".to_owned())
}

#[tokio::test]
async fn a_push_cannot_switch_off_a_way_to_sign_in_of_another_level() {
    let app = TestApp::start().await;
    let github = json!({ "id": "github", "client_id": "an-id", "client_secret": "a-secret" });
    app.configure(json!({ "config": { "magic_link_enabled": true, "oauth_providers": [github] } })).await;
    assert_done(
        &patch(&app.admin(), "environment", json!({ "auth.signUpRules.a": { "condition": "true", "action": { "type": "log" } } })).await,
    );
    for pushed in [
        json!({}),
        json!({ "auth": { "otp": { "allowSignIn": false }, "password": { "allowSignIn": false }, "oauth": { "providers": {} } } }),
        json!({ "auth.otp.allowSignIn": null, "auth.oauth.providers.github": { "type": "github", "allowSignIn": false }, "auth.signUpRules": {} }),
    ] {
        push(&app, pushed).await;
        let config = settings(&app).await;
        assert_eq!((&config["magic_link_enabled"], &config["credential_enabled"]), (&json!(true), &json!(true)));
        assert_eq!(config["oauth_providers"][0]["client_id"], "an-id");
        assert_eq!(config["sign_up_rules"][0]["id"], "a");
    }
    // A server may write only the branch. A server therefore cannot disable passwords.
    assert_done(&patch(&app.server(), "branch", json!({ "auth.password.allowSignIn": false })).await);
    app.sign_up("ada@example.com").await;
    // Once the environment no longer sets `auth.password`, the setting of the branch takes effect.
    reset(&app.admin(), "environment", &["auth.password"]).await;
    assert_eq!(settings(&app).await["credential_enabled"], false);
    push(&app, json!({ "auth.password.allowSignIn": true })).await;
    assert_eq!(settings(&app).await["credential_enabled"], true);
    push(&app, json!({})).await;
    assert_eq!(settings(&app).await["credential_enabled"], false);
}

#[tokio::test]
async fn a_push_changes_nothing_that_an_operation_has_set() {
    let app = TestApp::start().await;
    push(&app, json!({ "teams.allowClientTeamCreation": true })).await;
    app.configure(json!({ "config": {
        "sign_up_enabled": false, "credential_enabled": false, "magic_link_enabled": true, "passkey_enabled": true,
        "passkey_rp_ids": ["example.com"], "passkey_user_verification": "required", "passkey_replaces_second_factor": true,
        "client_team_creation_enabled": false, "member_invitations_enabled": false, "client_user_deletion_enabled": true,
        "max_teams_per_user": 7, "anonymous_creation_enabled": true,
        "allow_user_api_keys": true, "allow_team_api_keys": true, "allow_localhost": false, "create_team_on_sign_up": true,
        "require_email_verification": true, "require_publishable_client_key": true, "new_sign_in_mails": false,
        "disabled_notices": ["password"], "password_min_length": 12, "session_max_age_seconds": 7200, "session_max_idle_seconds": 3600,
        "reauthentication_max_age_seconds": 600, "second_factor": { "remember_device_days": 30, "required_of_everyone": true },
        "audit_log_retention_days": 30, "bot_challenge_usual_requests_per_hour": 7, "oauth_account_merge_strategy": "raise_error",
        "sign_up_rules": [{ "id": "a", "condition": "true", "action": { "type": "log" } }], "sign_up_rules_default_action": "reject",
        "domains": [{ "domain": "https://web.example.com" }],
        "oauth_providers": [{ "id": "github", "client_id": "an-id", "client_secret": "a-secret" }],
        "team_creator_default_permissions": [], "team_member_default_permissions": [],
    } }))
    .await;
    let before = settings(&app).await;
    push(&app, json!({ "auth": { "allowSignUp": true, "passkey": { "allowSignIn": false } }, "apiKeys.enabled.user": false })).await;
    assert_eq!(settings(&app).await, before);
}

#[tokio::test]
async fn levels_are_read_as_they_were_written() {
    let app = TestApp::start().await;
    let admin = app.admin();
    reset(&admin, "environment", &["auth.otp"]).await;
    let branch = json!({
        "auth": { "otp": { "allowSignIn": true } }, "teams.allowClientTeamCreation": null,
        "apps.installed.payments.enabled": true, "payments": { "items": { "seats": { "displayName": "Seats", "customerType": "team" } } },
    });
    push(&app, branch.clone()).await;
    assert_eq!(read(&admin, &level("branch")).await, branch);
    let whole = read(&admin, CONFIG).await;
    assert_eq!(whole["payments"]["items"]["seats"]["displayName"], "Seats");
    assert_eq!((&whole["apps"]["installed"]["payments"]["enabled"], &whole["dataVault"]), (&json!(true), &json!({ "stores": {} })));
    assert_done(&patch(&admin, "branch", json!({ "auth.otp": { "allowSignIn": false }, "apps": {} })).await);
    let expected = json!({
        "auth": { "otp": { "allowSignIn": true } }, "auth.otp": { "allowSignIn": false }, "teams.allowClientTeamCreation": null,
        "apps": {}, "payments": branch["payments"],
    });
    assert_eq!(read(&admin, &level("branch")).await, expected);
    assert_eq!(settings(&app).await["magic_link_enabled"], false, "the longer key is set after the shorter one");
    reset(&admin, "branch", &["auth.otp", "payments.items", "unknown.key"]).await;
    assert_eq!(read(&admin, &level("branch")).await, json!({ "teams.allowClientTeamCreation": null, "apps": {} }));
    push(&app, json!({})).await;
    assert_eq!(read(&admin, &level("branch")).await, json!({}));
    assert_eq!(read(&admin, &level("project")).await, json!({}));
}

#[tokio::test]
async fn a_table_without_levels_has_its_settings_at_the_environment() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let values = json!({
        "auth.otp.allowSignIn": true, "domains.trustedDomains.web.baseUrl": "https://web.example.com",
        "auth.oauth.providers.github": { "type": "github", "clientId": "an-id", "clientSecret": "a-secret" },
        "emails.themes.0d4f1f3a-5e0c-4a65-9f2f-6c1d2b3a4e5f": { "displayName": "Ours" },
    });
    assert_done(&patch(&admin, "environment", values).await);
    // Deletes the stored levels. A table that was written before levels were introduced contains
    // only settings and documents.
    let (pk, sk) = key(&app);
    assert!(app.table().contains_key(&(pk.clone(), sk.clone())));
    let delete = DeleteItemInput::builder().table_name(app.app.store.table());
    let delete = delete.key("pk", AttributeValue::S(pk)).key("sk", AttributeValue::S(sk));
    app.app.store.client().call(delete).await.unwrap();

    let (config, documents) = (settings(&app).await, admin.get("/api/v1/internal/email-themes").await.json());
    let own = read(&admin, &level("environment")).await;
    assert_eq!((&own["auth.otp.allowSignIn"], &own["auth.password.allowSignIn"]), (&json!(true), &json!(true)));
    assert_eq!(own["auth.oauth.providers.github"]["clientId"], "an-id");
    assert_eq!(own["domains.trustedDomains.web"]["baseUrl"], "https://web.example.com");
    assert_eq!(own["emails"]["themes"]["0d4f1f3a-5e0c-4a65-9f2f-6c1d2b3a4e5f"]["displayName"], "Ours");
    assert_eq!(read(&admin, &level("branch")).await, json!({}));
    push(&app, json!({ "auth.password.allowSignIn": false, "teams.allowClientTeamCreation": true })).await;
    let mut expected = config;
    expected["client_team_creation_enabled"] = json!(true);
    assert_eq!(settings(&app).await, expected);
    assert_eq!(admin.get("/api/v1/internal/email-themes").await.json(), documents);
    assert_eq!(read(&admin, &level("environment")).await, own);
}

#[tokio::test]
async fn a_provider_of_the_branch_keeps_the_secret_of_the_environment() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let google = json!({ "auth.oauth.providers.google": { "type": "google", "allowSignIn": true, "allowConnectedAccounts": true } });
    let offered = async || app.client().get("/api/v1/projects/current").await.json()["config"]["enabled_oauth_providers"].clone();
    push(&app, google.clone()).await;
    assert_eq!(offered().await, json!([]), "no client id yet");
    let registration = json!({ "auth.oauth.providers.google.clientId": "an-id", "auth.oauth.providers.google.clientSecret": "a-secret" });
    assert_done(&patch(&admin, "environment", registration).await);
    assert_eq!(offered().await, json!([{ "id": "google" }]));
    push(&app, json!({})).await;
    assert_eq!(offered().await, json!([]));
    push(&app, google).await;
    assert_eq!(offered().await, json!([{ "id": "google" }]), "with the earlier secret");
    assert!(!format!("{:?}", app.table()).contains("a-secret"));
    let moved = patch(&admin, "environment", json!({ "auth.oauth.providers.google.clientId": "other" })).await;
    assert_refused(&moved, "auth.oauth.providers.google.clientSecret is required");
}

#[tokio::test]
async fn a_renamed_or_deleted_permission_does_not_block_the_configuration() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let permission = "/api/v1/team-permission-definitions";
    assert_eq!(admin.post(permission, json!({ "id": "read_notes" })).await.status(), 201);
    push(&app, json!({ "rbac": { "defaultPermissions": { "teamMember": { "read_notes": true } } } })).await;
    reset(&admin, "environment", &["rbac.defaultPermissions"]).await;
    let defaults = async || settings(&app).await["team_member_default_permissions"].clone();
    assert_eq!(defaults().await, json!([{ "id": "read_notes" }]));
    assert_eq!(admin.patch(&format!("{permission}/read_notes"), json!({ "id": "see_notes" })).await.status(), 200);
    assert_done(&patch(&admin, "branch", json!({ "auth.otp.allowSignIn": true })).await);
    assert_eq!(defaults().await, json!([{ "id": "see_notes" }]));
    assert_eq!(admin.delete(&format!("{permission}/see_notes")).await.status(), 200);
    assert_done(&patch(&admin, "branch", json!({ "auth.otp.allowSignIn": false })).await);
    assert_eq!(defaults().await, json!([]));
    let unknown = patch(&admin, "branch", json!({ "rbac.defaultPermissions.teamMember.see_notes": true })).await;
    assert_refused(&unknown, "rbac.defaultPermissions.teamMember");
}

#[tokio::test]
async fn writes_to_two_levels_at_once_lose_nothing() {
    let app = TestApp::start().await;
    let (admin, server) = (app.admin(), app.server());
    for round in 0..10 {
        let [on, off] = [round % 2 == 0, round % 2 == 1];
        let environment = patch(&admin, "environment", json!({ "auth.otp.allowSignIn": on }));
        let branch = patch(&server, "branch", json!({ "teams.allowClientTeamCreation": off }));
        let (environment, branch) = tokio::join!(environment, branch);
        let config = settings(&app).await;
        let done = |answer: &support::Answer| answer.status() == 200;
        assert!(done(&environment) || done(&branch), "both changes found that the project had changed");
        assert!(!done(&environment) || config["magic_link_enabled"] == on, "{config}");
        assert!(!done(&branch) || config["client_team_creation_enabled"] == off, "{config}");
    }
}
