//! The settings of a project as one configuration, and its levels.

use serde_json::{Value, json};
use support::{Answer, Caller, TestApp};

use super::INTERNAL;
use crate::auth::account_notices::{notices, verified};

const CONFIG: &str = "/api/v1/internal/config";

fn level(name: &str) -> String {
    format!("{CONFIG}/override/{name}")
}

async fn read(caller: &Caller, path: &str) -> Value {
    let answer = caller.get(path).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    serde_json::from_str(answer.json()["config_string"].as_str().unwrap()).unwrap()
}

async fn patch(caller: &Caller, name: &str, values: Value) -> Answer {
    caller.patch(&level(name), json!({ "config_override_string": values.to_string() })).await
}

async fn put(caller: &Caller, name: &str, values: Value, source: bool) -> Answer {
    let mut body = json!({ "config_string": values.to_string() });
    if source {
        body["source"] = json!({ "type": "pushed-from-unknown" });
    }
    caller.request("PUT", &level(name)).json(&body).send().await
}

fn assert_done(answer: &Answer) {
    assert_eq!((answer.status(), answer.json()), (200, json!({ "success": true })));
}

fn assert_refused(answer: &Answer, path: &str) {
    assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{}", answer.text());
    assert!(answer.text().contains(path), "{path} in {}", answer.text());
}

#[tokio::test]
async fn a_new_project_has_the_settings_of_its_creation() {
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
}

#[tokio::test]
async fn a_value_takes_effect_with_the_next_request_and_is_the_setting_of_the_project() {
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
    // Settings that are changed there are changed here.
    app.configure(json!({ "config": { "sign_up_enabled": true, "client_team_creation_enabled": true } })).await;
    let config = read(&admin, CONFIG).await;
    assert_eq!((&config["auth"]["allowSignUp"], &config["teams"]["allowClientTeamCreation"]), (&json!(true), &json!(true)));
    assert_eq!(config["domains"]["trustedDomains"]["web"]["baseUrl"], "https://web.example.com");
}

#[tokio::test]
async fn rules_of_signing_up_are_set_and_obeyed() {
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
        (403, "SIGN_UP_REJECTED", &json!("Staff alone"))
    );
    app.sign_up("ada@example.com").await;
    let read = read(&app.admin(), &level("branch")).await;
    assert_eq!(read["auth"]["signUpRules"]["staff"], rules["auth.signUpRules.staff"]);
    assert_done(&app.admin().post(&format!("{}/reset-keys", level("branch")), json!({ "keys": ["auth.signUpRules"] })).await);
    assert_eq!(app.client().post("/api/v1/auth/password/sign-up", stranger).await.status(), 200);
}

#[tokio::test]
async fn emails_about_accounts_are_switched_off_one_by_one() {
    let app = TestApp::start().await;
    let (admin, ada) = (app.admin(), verified(&app, "ada@example.com").await);
    let all = json!({ "newSignIn": false, "password": true, "signInAddress": true, "authenticatorApp": true, "providerAccount": true });
    assert_eq!(read(&admin, CONFIG).await["emails"]["notices"], all);
    assert_done(&patch(&admin, "branch", json!({ "emails.notices.authenticatorApp": false, "emails.notices.newSignIn": true })).await);
    let settings = admin.get(INTERNAL).await.json()["config"].clone();
    assert_eq!((&settings["disabled_notices"], &settings["new_sign_in_mails"]), (&json!(["authenticator-app"]), &json!(true)));
    let own = async || read(&admin, &level("branch")).await["emails"].clone();
    assert_eq!(own().await, json!({ "notices": { "authenticatorApp": false, "newSignIn": true } }));

    let change = async |patch: Value| app.server().patch(&format!("/api/v1/users/{}", ada.user_id), patch).await.status();
    assert_eq!(change(json!({ "totp_secret_base64": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=" })).await, 200);
    assert!(notices(&app, "ada@example.com").await.is_empty());
    assert_eq!(change(json!({ "password": "a better horse battery" })).await, 200);
    assert_eq!(notices(&app, "ada@example.com").await.len(), 1);

    app.configure(json!({ "config": { "disabled_notices": ["password"], "new_sign_in_mails": false } })).await;
    assert_eq!(own().await, json!({ "notices": { "password": false } }));
    for (values, path) in [
        (json!({ "emails.notices.weather": false }), "emails.notices.weather is not known"),
        (json!({ "emails.notices.password": "no" }), "emails.notices.password must be a boolean"),
        (json!({ "emails.notices": true }), "emails.notices must be an object"),
    ] {
        assert_refused(&patch(&admin, "branch", values).await, path);
    }
    assert_done(&admin.post(&format!("{}/reset-keys", level("branch")), json!({ "keys": ["emails.notices"] })).await);
    assert_eq!(read(&admin, CONFIG).await["emails"]["notices"], all);
}

#[tokio::test]
async fn a_bad_value_changes_nothing_and_the_error_names_its_path() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let before = admin.get(INTERNAL).await.json();
    for (values, path) in [
        (json!({ "auth.otp.allowSignIn": true, "auth.allowSignUp": 1 }), "auth.allowSignUp must be a boolean"),
        (json!({ "auth.otp.allowSignIn": true, "auth.password": { "minimum": 1 } }), "auth.password.minimum is not known"),
        (json!({ "auth.otp.allowSignIn": true, "domains.trustedDomains.a": { "baseUrl": "ftp://x" } }), "domains.trustedDomains.a.baseUrl"),
        (
            json!({ "auth.otp.allowSignIn": true, "project.requirePublishableClientKey": true }),
            "project.requirePublishableClientKey is no key of",
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
async fn a_level_is_replaced_as_a_whole_and_the_others_stay() {
    let app = TestApp::start().await;
    let admin = app.admin();
    assert_done(&patch(&admin, "project", json!({ "project.requirePublishableClientKey": true })).await);
    assert_done(&patch(&admin, "environment", json!({ "domains.trustedDomains.web.baseUrl": "https://web.example.com" })).await);
    assert_done(&put(&admin, "branch", json!({ "auth": { "otp": { "allowSignIn": true } } }), true).await);
    assert_eq!(read(&admin, &level("branch")).await, json!({ "auth": { "otp": { "allowSignIn": true } } }));
    let config = read(&admin, CONFIG).await;
    assert_eq!((&config["auth"]["password"]["allowSignIn"], &config["domains"]["allowLocalhost"]), (&json!(false), &json!(false)));
    assert_eq!(config["domains"]["trustedDomains"]["web"]["baseUrl"], "https://web.example.com");
    assert_eq!(read(&admin, &level("project")).await, json!({ "project": { "requirePublishableClientKey": true } }));
    let client = app.client().without("x-stack-publishable-client-key").get("/api/v1/projects/current").await;
    assert_eq!(client.code(), "PUBLISHABLE_CLIENT_KEY_REQUIRED_FOR_PROJECT");
}

#[tokio::test]
async fn secrets_are_written_and_never_read() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let provider =
        json!({ "type": "github", "isShared": false, "allowSignIn": true, "clientId": "an-id", "clientSecret": "a-client-secret" });
    assert_done(&patch(&admin, "environment", json!({ "auth.oauth.providers.github": provider })).await);
    for path in [CONFIG.to_owned(), level("environment"), level("branch"), INTERNAL.to_owned()] {
        let text = admin.get(&path).await.text().to_owned();
        assert!(text.contains("github") && !text.contains("a-client-secret") && !text.contains("clientSecret"), "{path}: {text}");
    }
    assert_eq!(read(&admin, &level("environment")).await["auth"]["oauth"]["providers"]["github"]["clientId"], "an-id");
}

#[tokio::test]
async fn a_server_may_change_the_branch_alone_and_a_client_nothing() {
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
async fn a_mail_server_is_the_setting_of_the_project_and_keeps_its_password() {
    let app = TestApp::start().await;
    let server = json!({
        "isShared": false, "provider": "smtp", "host": "mail.example.com", "port": 465, "username": "notes", "password": "the-password",
        "senderName": "Notes", "senderEmail": "notes@example.com",
    });
    assert_done(&patch(&app.admin(), "environment", json!({ "emails.server": server })).await);
    let shown = app.admin().get(INTERNAL).await.json()["config"]["email_config"].clone();
    assert_eq!((&shown["host"], &shown["port"], &shown["password"]), (&json!("mail.example.com"), &json!(465), &json!("********")));
    for path in [CONFIG.to_owned(), level("environment")] {
        let config = read(&app.admin(), &path).await;
        assert_eq!(
            (&config["emails"]["server"]["host"], &config["emails"]["server"]["password"]),
            (&json!("mail.example.com"), &Value::Null)
        );
    }
    // The whole level as it was read keeps the password.
    let config = read(&app.admin(), &level("environment")).await;
    assert_done(&put(&app.admin(), "environment", config, false).await);
    assert_eq!(app.admin().get(INTERNAL).await.json()["config"]["email_config"], shown);
    assert_refused(&patch(&app.admin(), "environment", json!({ "emails.server.host": "evil.test" })).await, "emails.server.password");
    assert_refused(&patch(&app.admin(), "branch", json!({ "emails.server.host": "mail.example.com" })).await, "emails.server.host");
}

#[tokio::test]
async fn templates_and_themes_are_those_of_their_own_operations() {
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

    // What another operation changes is here, and a server may change the branch too.
    let renamed = app.admin().patch(&format!("/api/v1/internal/email-templates/{TEMPLATE}"), json!({ "display_name": "Letters" })).await;
    assert_eq!(renamed.status(), 200);
    assert_eq!(read(&app.server(), &level("branch")).await["emails"]["templates"][TEMPLATE]["displayName"], "Letters");
    assert_done(&patch(&app.server(), "branch", json!({ format!("emails.templates.{TEMPLATE}.tsxSource"): "<p>Old</p>" })).await);
    assert_eq!(document(&app, "templates", TEMPLATE).await.json()["html_source"], "<p>Old</p>");

    let keys = json!({ "keys": [format!("emails.templates.{SIGN_IN}"), format!("emails.templates.{TEMPLATE}")] });
    assert_done(&admin.post(&format!("{}/reset-keys", level("branch")), keys).await);
    assert_eq!(document(&app, "templates", TEMPLATE).await.status(), 404);
    assert!(document(&app, "templates", SIGN_IN).await.json()["subject_source"].as_str().unwrap().starts_with("Sign in to"));
    assert_done(&put(&admin, "branch", json!({}), true).await);
    assert_eq!(document(&app, "themes", THEME).await.status(), 404);
}

#[tokio::test]
async fn one_wrong_document_changes_nothing_and_is_named() {
    let app = TestApp::start().await;
    let before = app.table();
    let path = format!("emails.templates.{TEMPLATE}");
    let values = json!({ "auth.allowSignUp": false, &path: { "displayName": "News", "tsxSource": "import React from 'react'" } });
    assert_refused(&patch(&app.admin(), "branch", values).await, &format!("{path}.tsxSource"));
    let values = json!({ "auth.allowSignUp": "no", &path: { "displayName": "News" } });
    assert_refused(&patch(&app.admin(), "branch", values).await, "auth.allowSignUp");
    assert_eq!(app.table(), before);
}

/// So many new themes.
fn themes(from: u128, count: u128) -> Value {
    let theme = |number: u128| (uuid::Uuid::from_u128(number).to_string(), json!({ "displayName": format!("Theme {number}") }));
    let themes: serde_json::Map<String, Value> = (from..from + count).map(theme).collect();
    json!({ "emails": { "themes": themes } })
}

#[tokio::test]
async fn there_are_no_more_documents_by_a_configuration_than_by_their_operations() {
    let app = TestApp::start().await;
    let merge = |values: &Value| {
        let all = values["emails"]["themes"].as_object().unwrap();
        Value::Object(all.iter().map(|(id, theme)| (format!("emails.themes.{id}"), theme.clone())).collect())
    };
    assert_refused(&patch(&app.admin(), "branch", merge(&themes(1, 96))).await, "more than 95");
    for from in [1, 1001] {
        assert_done(&patch(&app.admin(), "branch", merge(&themes(from, 95))).await);
    }
    let refused = patch(&app.admin(), "branch", merge(&themes(2001, 11))).await;
    assert_eq!((refused.status(), refused.code().as_str()), (400, "TOO_MANY_EMAIL_DOCUMENTS"), "{}", refused.text());
    assert_done(&patch(&app.admin(), "branch", merge(&themes(2001, 10))).await);
    let created = app.admin().post("/api/v1/internal/email-themes", json!({ "display_name": "One more" })).await;
    assert_eq!(created.code(), "TOO_MANY_EMAIL_DOCUMENTS");
    // One for another is no more than there were.
    let id = uuid::Uuid::from_u128(1);
    let swap = json!({ format!("emails.themes.{id}"): null, format!("emails.themes.{THEME}"): { "displayName": "New" } });
    assert_done(&patch(&app.admin(), "branch", swap).await);
    assert_eq!(app.admin().get("/api/v1/internal/email-themes").await.json()["themes"].as_array().unwrap().len(), 201);
}
