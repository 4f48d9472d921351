//! The settings of a project as one configuration, and its levels.

use serde_json::{Value, json};
use support::{Answer, Caller, TestApp};

use super::INTERNAL;

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
