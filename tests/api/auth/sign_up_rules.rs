//! A project's sign-up rules apply to every way to sign up.

use serde_json::{Value, json};
use support::TestApp;

use super::oauth_callback::{ada, error_of, exchange, flow, parameter, start};
use super::{assert_error, opens_own_data};

const SIGN_UP: &str = "/api/v1/auth/password/sign-up";
const SEND: &str = "/api/v1/auth/otp/send-sign-in-code";
const SETTINGS: &str = "/api/v1/internal/projects/current";

fn rule(id: &str, condition: &str, action: &str) -> Value {
    json!({ "id": id, "priority": 1, "condition": condition, "action": { "type": action, "message": "only for our own" } })
}

async fn set(app: &TestApp, rules: &[Value]) {
    app.configure(json!({ "config": { "magic_link_enabled": true, "sign_up_rules": rules } })).await;
}

fn body(email: &str) -> Value {
    json!({ "email": email, "password": "correct horse battery" })
}

async fn users(app: &TestApp) -> usize {
    let all = app.server().get("/api/v1/users?include_anonymous=true").await.json();
    all["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_rejected_user_cannot_sign_up_by_any_method() {
    let (app, provider) = start().await;
    set(&app, &[rule("own", r#"emailDomain != "our.example""#, "reject")]).await;
    let details = assert_error(&app.client().post(SIGN_UP, body("ada@example.com")).await, 403, "SIGN_UP_REJECTED");
    assert_eq!(details, json!({ "message": "the sign-up rules of the project rejected this sign-up" }));
    let code = json!({ "code": app.sign_in_code("ada@example.com").await });
    assert_error(&app.client().post("/api/v1/auth/otp/sign-in", code).await, 403, "SIGN_UP_REJECTED");
    let back = flow(&app, &provider, ada(), &[]).await;
    assert_eq!(error_of(&back), "SIGN_UP_REJECTED");
    assert_eq!(users(&app).await, 0);
    assert_eq!(app.client().post(SIGN_UP, body("ada@our.example")).await.status(), 200);
    assert_eq!(users(&app).await, 1);
}

/// Callers whom the rules reject must not learn which addresses have accounts.
#[tokio::test]
async fn a_request_for_a_code_is_not_judged() {
    let app = TestApp::start().await;
    set(&app, &[]).await;
    app.sign_up("ada@example.com").await;
    set(&app, &[rule("place", r#"countryCode == "FR""#, "reject"), rule("method", r#"authMethod == "otp""#, "reject")]).await;
    let from = app.client().with("cloudfront-viewer-country", "FR");
    let mut answers = Vec::new();
    for email in ["ada@example.com", "stranger@example.com"] {
        let sent = from.post(SEND, json!({ "email": email, "callback_url": "http://localhost:3000/cb" })).await;
        let fields: Vec<String> = sent.json().as_object().unwrap().keys().cloned().collect();
        answers.push((sent.status(), fields));
        assert_eq!(app.mails(email).await.len(), 1, "{email}");
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0].0, 200);
    let code = json!({ "code": app.last_mail("stranger@example.com").await.code() });
    assert_error(&from.post("/api/v1/auth/otp/sign-in", code).await, 403, "SIGN_UP_REJECTED");
}

#[tokio::test]
async fn a_rule_added_after_a_code_was_sent_applies() {
    let app = TestApp::start().await;
    set(&app, &[]).await;
    let code = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/cb" });
    let sent = app.client().post(SEND, code).await;
    assert_eq!(sent.status(), 200, "{}", sent.text());
    let mail = app.last_mail("ada@example.com").await;
    set(&app, &[rule("no-mails", r#"authMethod == "otp""#, "reject")]).await;
    let sign_in = || async { app.client().post("/api/v1/auth/otp/sign-in", json!({ "code": mail.code() })).await };
    assert_error(&sign_in().await, 403, "SIGN_UP_REJECTED");
    // The rejected sign-up has not invalidated the code.
    set(&app, &[]).await;
    assert_eq!(sign_in().await.status(), 200);
}

#[tokio::test]
async fn rules_apply_to_sign_ups_and_not_to_existing_users() {
    let (app, provider) = start().await;
    let user = app.sign_up("ada@example.com").await;
    set(&app, &[rule("nobody", "true", "reject")]).await;
    assert_eq!(app.sign_in("ada@example.com").await.user_id, user.user_id);
    let link = flow(&app, &provider, ada(), &[("type", "link"), ("token", &user.access_token)]).await;
    assert_eq!(exchange(&app, &parameter(&link, "code")).await.status(), 200);
    let again = flow(&app, &provider, ada(), &[]).await;
    assert_eq!(exchange(&app, &parameter(&again, "code")).await.status(), 200);
    let created = app.server().post("/api/v1/users", json!({ "primary_email": "eve@example.com" })).await;
    assert_eq!(created.status(), 201);
}

#[tokio::test]
async fn a_restricted_user_signs_up_and_only_a_server_sees_the_rule() {
    let app = TestApp::start().await;
    set(&app, &[rule("free", r#"emailDomain == "free.example""#, "restrict")]).await;
    let user = app.sign_up("ada@free.example").await;
    let seen = app.server().get(&format!("/api/v1/users/{}", user.user_id)).await.json();
    assert_eq!((&seen["is_restricted"], &seen["restricted_by_admin"]), (&true.into(), &true.into()));
    assert_eq!(seen["restricted_by_admin_reason"], Value::Null);
    assert_eq!(seen["restricted_by_admin_private_details"], "sign-up rule free: only for our own");
    let other = app.sign_up("ada@paid.example").await;
    assert!(opens_own_data(&app, &other).await);
}

#[tokio::test]
async fn a_sign_up_records_the_country_that_it_came_from() {
    let app = TestApp::start().await;
    set(&app, &[]).await;
    let from = |country: &'static str| app.client().with("cloudfront-viewer-country", country);
    let country = async |id: &str| app.server().get(&format!("/api/v1/users/{id}")).await.json()["country_code"].clone();
    let known = from("DE").post(SIGN_UP, body("ada@example.com")).await.json();
    assert_eq!(country(known["user_id"].as_str().unwrap()).await, "DE");
    let nowhere = app.client().post(SIGN_UP, body("bob@example.com")).await.json();
    assert_eq!(country(nowhere["user_id"].as_str().unwrap()).await, Value::Null);
    // A later sign-in from another country does not change the country that was recorded at
    // sign-up.
    assert_eq!(from("FR").post("/api/v1/auth/password/sign-in", body("ada@example.com")).await.status(), 200);
    assert_eq!(country(known["user_id"].as_str().unwrap()).await, "DE");
}

#[tokio::test]
async fn an_anonymous_user_is_not_upgraded_past_the_rules() {
    let (app, provider) = start().await;
    set(&app, &[rule("own", r#"emailDomain != "our.example""#, "reject")]).await;
    let anonymous = app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json();
    let token = anonymous["access_token"].as_str().unwrap();
    let caller = || app.client().with("x-stack-access-token", token).with("x-stack-allow-anonymous-user", "true");
    assert_error(&caller().post(SIGN_UP, body("ada@example.com")).await, 403, "SIGN_UP_REJECTED");
    let back = flow(&app, &provider, ada(), &[("token", token)]).await;
    assert_eq!(error_of(&back), "SIGN_UP_REJECTED");
    // Rules that are added after the provider's response also apply.
    set(&app, &[]).await;
    let back = flow(&app, &provider, ada(), &[("token", token)]).await;
    set(&app, &[rule("nobody", "true", "reject")]).await;
    assert_error(&exchange(&app, &parameter(&back, "code")).await, 403, "SIGN_UP_REJECTED");
    assert_eq!(caller().get("/api/v1/users/me").await.json()["is_anonymous"], true);
    set(&app, &[]).await;
    assert_eq!(exchange(&app, &parameter(&back, "code")).await.status(), 200);
}

#[tokio::test]
async fn rules_are_validated_as_a_whole() {
    let app = TestApp::start().await;
    let good = rule("good", "true", "log");
    let saved = app.admin().patch(SETTINGS, json!({ "config": { "sign_up_rules": [good] } })).await;
    assert_eq!(saved.status(), 200, "{}", saved.text());
    assert_eq!(saved.json()["config"]["sign_up_rules"][0]["condition"], "true");
    for (rules, path) in [
        (json!([rule("good", "true", "log"), rule("bad", "email ==", "log")]), "body.config.sign_up_rules[1].condition"),
        (json!([rule("a", "email", "log")]), "body.config.sign_up_rules[0].condition"),
        (json!([rule("a", "true", "log"), rule("a", "true", "log")]), "body.config.sign_up_rules[1].id"),
        (json!([rule("", "true", "log")]), "body.config.sign_up_rules[0].id"),
        (json!([rule("a", "true", "explode")]), "body.config.sign_up_rules[0].action.type"),
        (json!((0..51).map(|n| rule(&n.to_string(), "true", "log")).collect::<Vec<_>>()), "body.config.sign_up_rules"),
    ] {
        let refused = app.admin().patch(SETTINGS, json!({ "display_name": "changed", "config": { "sign_up_rules": rules } })).await;
        let details = assert_error(&refused, 400, "SCHEMA_ERROR");
        assert!(details["message"].as_str().unwrap().contains(&format!("- {path} ")), "{details}");
    }
    let now = app.admin().get(SETTINGS).await.json();
    assert_eq!((&now["config"]["sign_up_rules"][0]["id"], now["display_name"] == "changed"), (&"good".into(), false));
    app.configure(json!({ "config": { "sign_up_rules_default_action": "reject", "sign_up_rules": [rule("own", r#"emailDomain == "our.example""#, "allow")] } })).await;
    assert_error(&app.client().post(SIGN_UP, body("ada@example.com")).await, 403, "SIGN_UP_REJECTED");
    assert_eq!(app.client().post(SIGN_UP, body("ada@our.example")).await.status(), 200);
}
