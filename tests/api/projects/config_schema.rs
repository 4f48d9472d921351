//! The configuration keys of the service that the SDK was made for. The test checks their levels
//! and, for keys with a single value, their defaults.

use serde_json::{Value, json};
use support::TestApp;

use super::config::{CONFIG, assert_done, assert_refused, level, patch, put, read};

const TEMPLATE: &str = "emails.templates.0d4f1f3a-5e0c-4a65-9f2f-6c1d2b3a4e5f";
const THEME: &str = "emails.themes.7d3b1c52-8f0e-4d7a-a6f1-2f4b5c6d7e8f";
const SOURCE: &str = "<p>Hello</p>";

/// Keys with a single value. Each row contains the key, its lowest level, a valid value that
/// differs from the default if possible, and the default. Keys with the lowest level `project` are
/// refused at higher levels.
fn values() -> Vec<(&'static str, &'static str, Value, Value)> {
    let (yes, no) = (json!(true), json!(false));
    vec![
        ("project.requirePublishableClientKey", "project", yes.clone(), no.clone()),
        ("teams.createPersonalTeamOnSignUp", "branch", yes.clone(), no.clone()),
        ("teams.allowClientTeamCreation", "branch", yes.clone(), no.clone()),
        ("users.allowClientUserDeletion", "branch", yes.clone(), no.clone()),
        ("users.allowAnonymousCreation", "branch", yes.clone(), no.clone()),
        ("teams.maxPerUser", "branch", json!(7), json!(50)),
        ("onboarding.requireEmailVerification", "branch", yes.clone(), no.clone()),
        ("apiKeys.enabled.team", "branch", yes.clone(), no.clone()),
        ("apiKeys.enabled.user", "branch", yes.clone(), no.clone()),
        ("domains.allowLocalhost", "environment", yes.clone(), no.clone()),
        ("auth.allowSignUp", "branch", no.clone(), yes.clone()),
        ("auth.password.allowSignIn", "branch", yes.clone(), no.clone()),
        ("auth.otp.allowSignIn", "branch", yes.clone(), no.clone()),
        ("auth.passkey.allowSignIn", "branch", yes.clone(), no),
        ("auth.oauth.accountMergeStrategy", "branch", json!("raise_error"), json!("link_method")),
        ("auth.oauth.accountMergeStrategy", "branch", json!("allow_duplicates"), json!("link_method")),
        ("auth.signUpRulesDefaultAction", "branch", json!("reject"), json!("allow")),
        ("emails.server.isShared", "environment", yes.clone(), yes),
        ("emails.server.provider", "environment", json!("smtp"), json!("smtp")),
        ("sourceOfTruth.type", "project", json!("neon"), json!("hosted")),
        ("apps.installed.payments.enabled", "branch", json!(true), json!(false)),
        ("payments.blockNewPurchases", "branch", json!(true), json!(false)),
        ("payments.testMode", "environment", json!(false), json!(true)),
    ]
}

/// Entries of records, and areas that are stored but have no effect. Each row contains the key, its
/// lowest level, and its value.
fn entries() -> Vec<(String, &'static str, Value)> {
    let entry = |key: &str, level, value: Value| (key.to_owned(), level, value);
    let mut entries = vec![
        entry(
            "rbac.permissions.write",
            "branch",
            json!({ "scope": "team", "description": "Writes.", "containedPermissionIds": { "team_member": true } }),
        ),
        entry("rbac.permissions.vote", "branch", json!({ "scope": "project" })),
        entry("rbac.defaultPermissions.teamCreator", "branch", json!({ "team_admin": true })),
        entry("rbac.defaultPermissions.teamMember", "branch", json!({ "team_member": true })),
        entry("rbac.defaultPermissions.signUp", "branch", json!({})),
        entry("domains.trustedDomains.web", "environment", json!({ "baseUrl": "https://*.example.com", "handlerPath": "/auth" })),
        entry(
            "auth.signUpRules.all",
            "branch",
            json!({ "enabled": true, "displayName": "All", "priority": 3, "condition": "true", "action": { "type": "restrict", "message": "later" } }),
        ),
        entry("auth.signUpRules.later", "branch", json!({ "enabled": true, "displayName": "Later" })),
        entry(TEMPLATE, "branch", json!({ "displayName": "Ours", "tsxSource": SOURCE, "themeId": false })),
        entry(THEME, "branch", json!({ "displayName": "Ours" })),
        entry(
            "emails.server",
            "environment",
            json!({
                "isShared": false, "provider": "smtp", "host": "smtp.example.com", "port": 465, "username": "u", "password": "a-secret",
                "senderName": "Ours", "senderEmail": "ours@example.com",
            }),
        ),
        entry("emails.server.managedSubdomain", "environment", json!("mail")),
        entry("emails.server.managedSenderLocalPart", "environment", json!("notes")),
        entry("sourceOfTruth.type", "project", json!("hosted")),
        entry("apps.installed.payments.enabled", "branch", json!(true)),
        entry("payments.blockNewPurchases", "branch", json!(true)),
        entry("payments.autoPay.interval", "branch", json!([1, "month"])),
        entry("payments.testMode", "environment", json!(true)),
        entry(
            "payments.products.pro",
            "branch",
            json!({ "displayName": "Pro", "customerType": "user", "prices": {}, "includedItems": {} }),
        ),
        entry("dbSync.externalDatabases.a.type", "branch", json!("postgres")),
        entry("dataVault.stores.a.displayName", "branch", json!("Secrets")),
        entry("analytics.queryFolders.a", "environment", json!({ "displayName": "Ours", "sortOrder": 0, "queries": {} })),
        entry("customDashboards.0d4f1f3a-5e0c-4a65-9f2f-6c1d2b3a4e5f.displayName", "environment", json!("Ours")),
    ];
    entries.extend(providers());
    entries
}

/// Each provider appears twice. One entry is for the branch, and the other, which contains the
/// credentials, is for the environment.
fn providers() -> Vec<(String, &'static str, Value)> {
    let mut entries = Vec::new();
    for kind in
        ["google", "github", "microsoft", "spotify", "facebook", "discord", "gitlab", "bitbucket", "linkedin", "apple", "x", "twitch"]
    {
        let key = format!("auth.oauth.providers.{kind}");
        let mut provider = json!({ "type": kind, "allowSignIn": true, "allowConnectedAccounts": true });
        entries.push((key.clone(), "branch", provider.clone()));
        provider["isShared"] = json!(false);
        provider["clientId"] = json!("an-id");
        provider["clientSecret"] = json!("a-secret");
        match kind {
            "facebook" => provider["facebookConfigId"] = json!("123"),
            "microsoft" => provider["microsoftTenantId"] = json!("common"),
            "apple" => provider["appleBundles"] = json!({ "ios": { "bundleId": "com.example.app" } }),
            _ => {}
        }
        entries.push((key, "environment", provider));
    }
    entries
}

/// The value at a dotted path. `null` if there is no value.
fn at(config: &Value, path: &str) -> Value {
    path.split('.').try_fold(config, |value, name| value.get(name)).cloned().unwrap_or_default()
}

/// Sets a key at every level that may contain it, and asserts that the other levels reject the key.
async fn set(app: &TestApp, key: &str, own: &str, value: &Value) {
    let holders: &[&str] = if own == "branch" { &["branch", "environment"] } else { &[own] };
    for name in ["project", "branch", "environment"] {
        let answer = patch(&app.admin(), name, json!({ key: value })).await;
        if holders.contains(&name) {
            assert_done(&answer);
        } else {
            assert_refused(&answer, key);
        }
    }
}

async fn reset(app: &TestApp, keys: &[&str]) {
    for name in ["branch", "environment"] {
        assert_done(&app.admin().post(&format!("{}/reset-keys", level(name)), json!({ "keys": keys })).await);
    }
}

#[tokio::test]
async fn every_value_has_its_level_and_its_default() {
    let app = TestApp::start_unobserved().await;
    // Resets the settings that a new project gets.
    reset(&app, &["apps", "auth", "domains", "teams", "rbac"]).await;
    for (key, own, value, default) in values() {
        assert_eq!(at(&read(&app.admin(), CONFIG).await, key), default, "{key}");
        set(&app, key, own, &value).await;
        assert_eq!(at(&read(&app.admin(), CONFIG).await, key), value, "{key}");
        for name in if own == "branch" { vec!["branch", "environment"] } else { vec![own] } {
            assert_done(&app.admin().post(&format!("{}/reset-keys", level(name)), json!({ "keys": [key] })).await);
        }
        assert_eq!(at(&read(&app.admin(), CONFIG).await, key), default, "{key} was reset");
    }
}

#[tokio::test]
async fn every_record_and_area_has_its_level() {
    let app = TestApp::start_unobserved().await;
    for (key, own, value) in entries() {
        set(&app, &key, own, &value).await;
        let written = read(&app.admin(), &level(own)).await;
        assert!(written.get(&key).is_some() || !at(&written, &key).is_null(), "{key} in {written}");
    }
    let config = read(&app.admin(), CONFIG).await;
    assert_eq!(config["auth"]["oauth"]["providers"].as_object().unwrap().len(), 12);
    assert_eq!(at(&config, "auth.oauth.providers.apple.appleBundles.ios.bundleId"), "com.example.app");
    assert_eq!(at(&config, "auth.oauth.providers.microsoft.microsoftTenantId"), "common");
    assert_eq!(
        (at(&config, "emails.server.managedSubdomain"), at(&config, "auth.signUpRules.later.displayName")),
        (json!("mail"), json!("Later"))
    );
    assert_eq!((at(&config, "emails.server.port"), at(&config, "payments.testMode")), (json!(465), json!(true)));
    assert!(!config.to_string().contains("a-secret"));
    // Missing fields get their defaults.
    assert_done(
        &patch(&app.admin(), "environment", json!({ "domains.trustedDomains.web": { "baseUrl": "https://web.example.com" } })).await,
    );
    assert_eq!(at(&read(&app.admin(), CONFIG).await, "domains.trustedDomains.web.handlerPath"), "/handler");
}

/// The apps of the service that the SDK was made for.
const APPS: [&str; 21] = [
    "authentication",
    "fraud-protection",
    "onboarding",
    "teams",
    "rbac",
    "api-keys",
    "payments",
    "emails",
    "support",
    "email-api",
    "data-vault",
    "webhooks",
    "tv-mode",
    "launch-checklist",
    "catalyst",
    "neon",
    "convex",
    "vercel",
    "tanstack-start",
    "analytics",
    "session-replays",
];

#[tokio::test]
async fn areas_without_effect_are_shown_with_their_defaults() {
    let app = TestApp::start_unobserved().await;
    reset(&app, &["apps"]).await;
    let apps: serde_json::Map<String, Value> = APPS.iter().map(|app| ((*app).to_owned(), json!({ "enabled": false }))).collect();
    let mut expected = json!({
        "apps": { "installed": apps }, "sourceOfTruth": { "type": "hosted" }, "dbSync": { "externalDatabases": {} },
        "payments": { "blockNewPurchases": false, "testMode": true, "productLines": {}, "items": {}, "products": {} },
        "dataVault": { "stores": {} }, "analytics": { "queryFolders": {} }, "customDashboards": {},
    });
    let areas = async || {
        let config = read(&app.admin(), CONFIG).await;
        Value::Object(
            ["apps", "sourceOfTruth", "dbSync", "payments", "dataVault", "analytics", "customDashboards"]
                .map(|area| (area.to_owned(), config[area].clone()))
                .into_iter()
                .collect(),
        )
    };
    assert_eq!(areas().await, expected);
    // Entries of records also have defaults, but reading a level returns exactly the values that
    // were written.
    let written = json!({
        "apps.installed": {}, "payments": { "items": { "seats": {} } }, "payments.products.pro": { "displayName": "Pro", "serverOnly": true },
        "analytics.queryFolders.a.displayName": "Ours", "customDashboards.b": { "displayName": "Ours" },
    });
    assert_done(&put(&app.admin(), "environment", written.clone(), false).await);
    expected["payments"]["items"]["seats"] = json!({ "displayName": "seats", "customerType": "user" });
    expected["payments"]["products"]["pro"] =
        json!({ "displayName": "Pro", "customerType": "user", "serverOnly": true, "isAddOnTo": false, "prices": {}, "includedItems": {} });
    expected["analytics"]["queryFolders"]["a"] = json!({ "displayName": "Ours", "sortOrder": 0, "queries": {} });
    expected["customDashboards"]["b"] = json!({ "displayName": "Ours" });
    assert_eq!(areas().await, expected);
    assert_eq!(read(&app.admin(), &level("environment")).await, written);
}

#[tokio::test]
async fn a_key_for_a_feature_that_does_not_exist_is_refused() {
    let app = TestApp::start_unobserved().await;
    for (key, value) in [
        ("emails.server.provider", json!("managed")),
        ("auth.oauth.providers.line", json!({ "type": "line", "allowSignIn": true, "clientId": "a", "clientSecret": "b" })),
        ("dbSync.externalDatabases.a.connectionString", json!("postgres://u:p@h/d")),
    ] {
        assert_refused(&patch(&app.admin(), "environment", json!({ key: value })).await, key.rsplit_once('.').unwrap().0);
    }
}
