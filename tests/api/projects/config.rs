//! The settings of a project as a configuration, and the levels of the configuration.

use serde_json::{Value, json};
use support::{Answer, Caller, TestApp};

use super::INTERNAL;
use crate::auth::account_notices::{notices, verified};

pub(super) const CONFIG: &str = "/api/v1/internal/config";

pub(super) fn level(name: &str) -> String {
    format!("{CONFIG}/override/{name}")
}

pub(super) async fn read(caller: &Caller, path: &str) -> Value {
    let answer = caller.get(path).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    serde_json::from_str(answer.json()["config_string"].as_str().unwrap()).unwrap()
}

pub(super) async fn patch(caller: &Caller, name: &str, values: Value) -> Answer {
    caller.patch(&level(name), json!({ "config_override_string": values.to_string() })).await
}

pub(super) async fn put(caller: &Caller, name: &str, values: Value, source: bool) -> Answer {
    let mut body = json!({ "config_string": values.to_string() });
    if source {
        body["source"] = json!({ "type": "pushed-from-unknown" });
    }
    caller.request("PUT", &level(name)).json(&body).send().await
}

pub(super) fn assert_done(answer: &Answer) {
    assert_eq!((answer.status(), answer.json()), (200, json!({ "success": true })));
}

pub(super) fn assert_refused(answer: &Answer, path: &str) {
    assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{}", answer.text());
    assert!(answer.text().contains(path), "{path} in {}", answer.text());
}

#[tokio::test]
async fn a_new_project_has_its_initial_settings() {
    let app = TestApp::start().await;
    let config = read(&app.admin(), CONFIG).await;
    assert_eq!(config["project"], json!({ "requirePublishableClientKey": false }));
    assert_eq!((&config["auth"]["allowSignUp"], &config["auth"]["password"]["allowSignIn"]), (&json!(true), &json!(true)));
    assert_eq!(config["auth"]["oauth"], json!({ "accountMergeStrategy": "link_method", "providers": {} }));
    assert_eq!((&config["auth"]["signUpRules"], &config["auth"]["signUpRulesDefaultAction"]), (&json!({}), &json!("allow")));
    assert_eq!(config["domains"], json!({ "allowLocalhost": true, "trustedDomains": {} }));
    assert_eq!(config["apiKeys"], json!({ "enabled": { "user": false, "team": false } }));
    assert_eq!((&config["emails"]["server"]["isShared"], &config["emails"]["server"]["provider"]), (&json!(true), &json!("smtp")));
    assert_eq!(config["rbac"]["defaultPermissions"]["teamCreator"], json!({ "team_admin": true }));
    let apps = config["apps"]["installed"].as_object().unwrap().iter();
    let enabled: Vec<&str> = apps.filter(|(_, app)| app["enabled"] == true).map(|(name, _)| name.as_str()).collect();
    assert_eq!(enabled, ["authentication", "emails"]);
}

#[tokio::test]
async fn a_value_takes_effect_immediately_as_a_project_setting() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let values = json!({ "auth.allowSignUp": false, "domains.trustedDomains.web": { "baseUrl": "https://web.example.com" } });
    assert_done(&patch(&admin, "environment", values).await);
    let refused =
        app.client().post("/api/v1/auth/password/sign-up", json!({ "email": "a@example.com", "password": "correct horse" })).await;
    assert_eq!(refused.code(), "SIGN_UP_NOT_ENABLED");
    let project = admin.get(INTERNAL).await.json();
    assert_eq!(project["config"]["sign_up_enabled"], false);
    assert_eq!(project["config"]["domains"], json!([{ "domain": "https://web.example.com", "handler_path": "/handler" }]));
    // The configuration also shows settings that other operations have changed.
    app.configure(json!({ "config": { "sign_up_enabled": true, "client_team_creation_enabled": true } })).await;
    let config = read(&admin, CONFIG).await;
    assert_eq!((&config["auth"]["allowSignUp"], &config["teams"]["allowClientTeamCreation"]), (&json!(true), &json!(true)));
    assert_eq!(config["domains"]["trustedDomains"]["web"]["baseUrl"], "https://web.example.com");
}

#[tokio::test]
async fn sign_up_rules_can_be_set_and_are_enforced() {
    let app = TestApp::start().await;
    let rules = json!({ "auth.signUpRules.staff": {
        "enabled": true, "displayName": "Staff alone", "priority": 5,
        "condition": "emailDomain != 'example.com'", "action": { "type": "reject", "message": "Staff alone" },
    } });
    assert_done(&patch(&app.admin(), "branch", rules.clone()).await);
    let stranger = json!({ "email": "eve@other.example", "password": "correct horse battery" });
    let refused = app.client().post("/api/v1/auth/password/sign-up", stranger.clone()).await;
    assert_eq!(
        (refused.status(), refused.code().as_str(), &refused.json()["details"]["message"]),
        (403, "SIGN_UP_REJECTED", &json!("the sign-up rules of the project rejected this sign-up"))
    );
    app.sign_up("ada@example.com").await;
    let read = read(&app.admin(), &level("branch")).await;
    assert_eq!(read, rules, "a level is read as it was written");
    assert_done(&app.admin().post(&format!("{}/reset-keys", level("branch")), json!({ "keys": ["auth.signUpRules"] })).await);
    assert_eq!(app.client().post("/api/v1/auth/password/sign-up", stranger).await.status(), 200);
}

#[tokio::test]
async fn account_notices_can_be_disabled_individually() {
    let app = TestApp::start().await;
    let (admin, ada) = (app.admin(), verified(&app, "ada@example.com").await);
    let all = json!({ "newSignIn": false, "password": true, "signInAddress": true, "authenticatorApp": true, "providerAccount": true, "apiKey": true, "oauthClient": true, "passkey": true });
    assert_eq!(read(&admin, CONFIG).await["emails"]["notices"], all);
    assert_done(&patch(&admin, "branch", json!({ "emails.notices.authenticatorApp": false, "emails.notices.newSignIn": true })).await);
    let settings = admin.get(INTERNAL).await.json()["config"].clone();
    assert_eq!((&settings["disabled_notices"], &settings["new_sign_in_mails"]), (&json!(["authenticator-app"]), &json!(true)));
    let own = async |name: &str| read(&admin, &level(name)).await;
    assert_eq!(own("branch").await, json!({ "emails.notices.authenticatorApp": false, "emails.notices.newSignIn": true }));

    let change = async |patch: Value| app.server().patch(&format!("/api/v1/users/{}", ada.user_id), patch).await.status();
    assert_eq!(change(json!({ "totp_secret_base64": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=" })).await, 200);
    assert!(notices(&app, "ada@example.com").await.is_empty());
    assert_eq!(change(json!({ "password": "a better horse battery" })).await, 200);
    assert_eq!(notices(&app, "ada@example.com").await.len(), 1);

    app.configure(json!({ "config": { "disabled_notices": ["password"], "new_sign_in_mails": false } })).await;
    assert_eq!(own("environment").await["emails.notices"]["password"], false);
    let effective = read(&admin, CONFIG).await["emails"]["notices"].clone();
    assert_eq!((&effective["password"], &effective["authenticatorApp"]), (&json!(false), &json!(true)));
    for (values, path) in [
        (json!({ "emails.notices.weather": false }), "emails.notices.weather is not known"),
        (json!({ "emails.notices.password": "no" }), "emails.notices.password must be a boolean"),
        (json!({ "emails.notices": true }), "emails.notices must be an object"),
    ] {
        assert_refused(&patch(&admin, "branch", values).await, path);
    }
    for name in ["branch", "environment"] {
        assert_done(&admin.post(&format!("{}/reset-keys", level(name)), json!({ "keys": ["emails.notices"] })).await);
    }
    assert_eq!(read(&admin, CONFIG).await["emails"]["notices"], all);
}

#[tokio::test]
async fn an_invalid_value_changes_nothing_and_its_path_is_reported() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let before = admin.get(INTERNAL).await.json();
    for (values, path) in [
        (json!({ "auth.otp.allowSignIn": true, "auth.allowSignUp": 1 }), "auth.allowSignUp must be a boolean"),
        (json!({ "auth.otp.allowSignIn": true, "auth.password": { "minimum": 1 } }), "auth.password.minimum is not known"),
        (json!({ "auth.otp.allowSignIn": true, "domains.trustedDomains.a": { "baseUrl": "ftp://x" } }), "domains.trustedDomains.a.baseUrl"),
        (
            json!({ "auth.otp.allowSignIn": true, "project.requirePublishableClientKey": true }),
            "project.requirePublishableClientKey is not a key of",
        ),
    ] {
        assert_refused(&patch(&admin, "environment", values.clone()).await, &format!("body.config_override_string.{path}"));
        assert_refused(&put(&admin, "environment", values, false).await, &format!("body.config_string.{path}"));
    }
    for text in ["", "[]", "nonsense"] {
        let answer = admin.patch(&level("environment"), json!({ "config_override_string": text })).await;
        assert_refused(&answer, "body.config_override_string must be the JSON text of an object");
    }
    assert_refused(&put(&admin, "branch", json!({}), false).await, "body.source");
    assert_refused(&admin.post(&format!("{}/reset-keys", level("branch")), json!({ "keys": ["project"] })).await, "body.keys.project");
    assert_refused(&admin.get(&level("planet")).await, "params.level");
    assert_eq!(admin.get(INTERNAL).await.json(), before);
}

#[tokio::test]
async fn a_level_is_replaced_as_a_whole_without_affecting_others() {
    let app = TestApp::start().await;
    let admin = app.admin();
    assert_done(&patch(&admin, "project", json!({ "project.requirePublishableClientKey": true })).await);
    assert_done(&patch(&admin, "environment", json!({ "domains.trustedDomains.web.baseUrl": "https://web.example.com" })).await);
    assert_done(&put(&admin, "branch", json!({ "auth": { "otp": { "allowSignIn": true } } }), true).await);
    assert_eq!(read(&admin, &level("branch")).await, json!({ "auth": { "otp": { "allowSignIn": true } } }));
    let config = read(&admin, CONFIG).await;
    assert_eq!((&config["auth"]["password"]["allowSignIn"], &config["domains"]["allowLocalhost"]), (&json!(true), &json!(true)));
    assert_eq!(config["domains"]["trustedDomains"]["web"]["baseUrl"], "https://web.example.com");
    assert_eq!(read(&admin, &level("project")).await, json!({ "project.requirePublishableClientKey": true }));
    let client = app.client().without("x-stack-publishable-client-key").get("/api/v1/projects/current").await;
    assert_eq!(client.code(), "PUBLISHABLE_CLIENT_KEY_REQUIRED_FOR_PROJECT");
}

#[tokio::test]
async fn servers_can_only_change_the_branch_and_clients_nothing() {
    let app = TestApp::start().await;
    let server = app.server();
    assert_done(&patch(&server, "branch", json!({ "auth.otp.allowSignIn": false })).await);
    assert_eq!(server.get(&level("branch")).await.status(), 200);
    for name in ["project", "environment"] {
        let reset = server.post(&format!("{}/reset-keys", level(name)), json!({ "keys": [] })).await;
        for answer in
            [server.get(&level(name)).await, patch(&server, name, json!({})).await, put(&server, name, json!({}), true).await, reset]
        {
            assert_eq!((answer.status(), answer.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
            assert_eq!(answer.json()["details"]["allowed_access_types"], json!(["admin"]));
        }
    }
    assert_eq!(server.get(CONFIG).await.code(), "INSUFFICIENT_ACCESS_TYPE");
    assert_eq!(app.client().get(&level("branch")).await.code(), "INSUFFICIENT_ACCESS_TYPE");
}

const THEME: &str = "0d4f1f3a-5e0c-4a65-9f2f-6c1d2b3a4e5f";
const TEMPLATE: &str = "7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d";
const SIGN_IN: &str = "822687fe-8d0a-4467-a0d1-416b6e639478";

async fn document(app: &TestApp, kind: &str, id: &str) -> Answer {
    app.admin().get(&format!("/api/v1/internal/email-{kind}/{id}")).await
}

#[tokio::test]
async fn templates_and_themes_are_shared_with_the_email_operations() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let config = read(&admin, CONFIG).await;
    assert_eq!(config["emails"]["templates"][SIGN_IN]["displayName"], "Sign-in code and link");
    assert_eq!(config["emails"]["themes"].as_object().unwrap().len(), 1);
    let values = json!({
        "auth.otp.allowSignIn": false,
        format!("emails.themes.{THEME}"): { "displayName": "Bare", "tsxSource": "<html><body>bare {{ content }}</body></html>" },
        format!("emails.templates.{TEMPLATE}"): { "displayName": "News", "htmlSource": "<p>News</p>", "themeId": THEME },
        format!("emails.templates.{SIGN_IN}.subjectSource"): "Come in with {{ variables.otp }}",
        "emails.selectedThemeId": THEME,
    });
    assert_done(&patch(&admin, "branch", values).await);
    let template = document(&app, "templates", TEMPLATE).await.json();
    assert_eq!((&template["html_source"], &template["theme_id"]), (&json!("<p>News</p>"), &json!(THEME)));
    assert_eq!(document(&app, "themes", THEME).await.json()["display_name"], "Bare");
    assert_eq!(app.admin().get(INTERNAL).await.json()["config"]["email_theme"], THEME);
    app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
    let body = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x" });
    assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.status(), 200);
    let mail = app.last_mail("ada@example.com").await;
    assert!(mail.0.subject.starts_with("Come in with ") && mail.0.html.contains("bare "), "{:?}", mail.0);

    // The configuration shows the changes that other operations have made. A server may also change
    // the branch.
    let renamed = app.admin().patch(&format!("/api/v1/internal/email-templates/{TEMPLATE}"), json!({ "display_name": "Letters" })).await;
    assert_eq!(renamed.status(), 200);
    assert_eq!(read(&admin, CONFIG).await["emails"]["templates"][TEMPLATE]["displayName"], "Letters");
    assert_eq!(read(&admin, &level("environment")).await["emails"]["templates"][TEMPLATE]["displayName"], "Letters");
    assert_eq!(read(&app.server(), &level("branch")).await["emails"]["templates"][TEMPLATE]["displayName"], "News");
    // Changing the branch has no effect while the environment overrides the key.
    assert_done(&patch(&app.server(), "branch", json!({ format!("emails.templates.{TEMPLATE}.tsxSource"): "<p>Old</p>" })).await);
    assert_eq!(document(&app, "templates", TEMPLATE).await.json()["html_source"], "<p>News</p>");
    let own = json!({ "keys": [format!("emails.templates.{TEMPLATE}")] });
    assert_done(&admin.post(&format!("{}/reset-keys", level("environment")), own).await);
    assert_eq!(document(&app, "templates", TEMPLATE).await.json()["html_source"], "<p>Old</p>");

    let keys = json!({ "keys": [format!("emails.templates.{SIGN_IN}"), format!("emails.templates.{TEMPLATE}")] });
    assert_done(&admin.post(&format!("{}/reset-keys", level("branch")), keys).await);
    assert_eq!(document(&app, "templates", TEMPLATE).await.status(), 404);
    assert!(document(&app, "templates", SIGN_IN).await.json()["subject_source"].as_str().unwrap().starts_with("Sign in to"));
    assert_done(&put(&admin, "branch", json!({}), true).await);
    assert_eq!(document(&app, "themes", THEME).await.status(), 404);
}

#[tokio::test]
async fn an_invalid_document_changes_nothing_and_is_reported() {
    let app = TestApp::start().await;
    let before = app.table();
    let path = format!("emails.templates.{TEMPLATE}");
    let values = json!({ "auth.allowSignUp": false, &path: { "displayName": "News", "tsxSource": "import React from 'react'" } });
    assert_refused(&patch(&app.admin(), "branch", values).await, &format!("{path}.tsxSource"));
    let values = json!({ "auth.allowSignUp": "no", &path: { "displayName": "News" } });
    assert_refused(&patch(&app.admin(), "branch", values).await, "auth.allowSignUp");
    assert_eq!(app.table(), before);
}

/// A configuration with this many new themes.
fn themes(from: u128, count: u128) -> Value {
    let theme = |number: u128| (uuid::Uuid::from_u128(number).to_string(), json!({ "displayName": format!("Theme {number}") }));
    let themes: serde_json::Map<String, Value> = (from..from + count).map(theme).collect();
    json!({ "emails": { "themes": themes } })
}

#[tokio::test]
async fn the_configuration_has_the_document_limits_of_the_operations() {
    let app = TestApp::start().await;
    let merge = |values: &Value| {
        let all = values["emails"]["themes"].as_object().unwrap();
        Value::Object(all.iter().map(|(id, theme)| (format!("emails.themes.{id}"), theme.clone())).collect())
    };
    assert_refused(&patch(&app.admin(), "branch", merge(&themes(1, 95))).await, "more than 94");
    for from in [1, 1001] {
        assert_done(&patch(&app.admin(), "branch", merge(&themes(from, 94))).await);
    }
    let refused = patch(&app.admin(), "branch", merge(&themes(2001, 13))).await;
    assert_eq!((refused.status(), refused.code().as_str()), (400, "TOO_MANY_EMAIL_DOCUMENTS"), "{}", refused.text());
    assert_done(&patch(&app.admin(), "branch", merge(&themes(2001, 12))).await);
    let created = app.admin().post("/api/v1/internal/email-themes", json!({ "display_name": "One more" })).await;
    assert_eq!(created.code(), "TOO_MANY_EMAIL_DOCUMENTS");
    // Removing one theme and adding another in one request does not exceed the limit.
    let id = uuid::Uuid::from_u128(1);
    let swap = json!({ format!("emails.themes.{id}"): null, format!("emails.themes.{THEME}"): { "displayName": "New" } });
    assert_done(&patch(&app.admin(), "branch", swap).await);
    assert_eq!(app.admin().get("/api/v1/internal/email-themes").await.json()["themes"].as_array().unwrap().len(), 201);
}
