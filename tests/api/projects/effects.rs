//! Settings take effect with the next request, and only in the project that they belong to.

use serde_json::{Value, json};
use support::{Answer, TestApp};

const SIGN_UP: &str = "/api/v1/auth/password/sign-up";
const SIGN_IN: &str = "/api/v1/auth/password/sign-in";
const SEND_CODE: &str = "/api/v1/auth/otp/send-sign-in-code";

fn account(email: &str) -> Value {
    json!({ "email": email, "password": "correct horse battery" })
}

fn mail_to(email: &str, callback: &str) -> Value {
    json!({ "email": email, "callback_url": callback })
}

async fn config(app: &TestApp, config: Value) {
    app.configure(json!({ "config": config })).await;
}

fn failed(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status(), answer.code().as_str()), (status, code), "{}", answer.text());
}

#[tokio::test]
async fn sign_up_can_be_disabled_and_enabled() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    config(&app, json!({ "sign_up_enabled": false })).await;
    failed(&app.client().post(SIGN_UP, account("bob@example.com")).await, 400, "SIGN_UP_NOT_ENABLED");
    failed(&app.client().post(SEND_CODE, mail_to("bob@example.com", "http://localhost/x")).await, 400, "SIGN_UP_NOT_ENABLED");
    // Existing users can still sign in.
    app.sign_in("ada@example.com").await;
    config(&app, json!({ "sign_up_enabled": true })).await;
    app.sign_up("bob@example.com").await;
}

#[tokio::test]
async fn passwords_can_be_disabled() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    config(&app, json!({ "credential_enabled": false })).await;
    failed(&app.client().post(SIGN_UP, account("bob@example.com")).await, 400, "PASSWORD_AUTHENTICATION_NOT_ENABLED");
    failed(&app.client().post(SIGN_IN, account("ada@example.com")).await, 400, "PASSWORD_AUTHENTICATION_NOT_ENABLED");
}

#[tokio::test]
async fn sign_in_by_email_can_be_disabled() {
    let app = TestApp::start().await;
    config(&app, json!({ "magic_link_enabled": false })).await;
    failed(&app.client().post(SEND_CODE, mail_to("ada@example.com", "http://localhost/x")).await, 403, "MAGIC_LINK_NOT_ENABLED");
}

#[tokio::test]
async fn the_minimum_password_length_can_be_raised() {
    let app = TestApp::start().await;
    config(&app, json!({ "password_min_length": 22 })).await;
    let short = app.client().post(SIGN_UP, account("ada@example.com")).await;
    failed(&short, 400, "PASSWORD_TOO_SHORT");
    assert_eq!(short.json()["details"], json!({ "min_length": 22 }));
    config(&app, json!({ "password_min_length": 21 })).await;
    app.sign_up("ada@example.com").await;
}

#[tokio::test]
async fn domains_can_be_trusted_and_localhost_disallowed() {
    let app = TestApp::start().await;
    let (local, own) = (mail_to("ada@example.com", "http://localhost:3000/x"), mail_to("ada@example.com", "https://app.example.com/x"));
    failed(&app.client().post(SEND_CODE, own.clone()).await, 400, "REDIRECT_URL_NOT_WHITELISTED");
    config(&app, json!({ "allow_localhost": false, "domains": [{ "domain": "https://*.example.com" }] })).await;
    let refused = app.client().post(SEND_CODE, local).await;
    failed(&refused, 400, "REDIRECT_URL_NOT_WHITELISTED");
    // The error and the hint name the settings that permit the URL. The hint also says where to
    // find these settings.
    let text = |field: &str| refused.json()[field].as_str().unwrap().to_owned();
    for setting in ["`config.domains`", "`config.allow_localhost`"] {
        assert!(text("error").contains(&setting.replace('`', "")) && text("hint").contains(setting), "{}", refused.text());
    }
    assert!(text("hint").contains("PATCH /api/v1/internal/projects/current"), "{}", refused.text());
    assert_eq!(app.client().post(SEND_CODE, own).await.status(), 200);
    assert!(app.last_mail("ada@example.com").await.link().starts_with("https://app.example.com/x?code="));
}

#[tokio::test]
async fn a_client_key_can_be_required() {
    let app = TestApp::start().await;
    let keyless = app.client().without("x-stack-publishable-client-key");
    assert_eq!(keyless.get(super::CURRENT).await.status(), 200);
    config(&app, json!({ "require_publishable_client_key": true })).await;
    failed(&keyless.get(super::CURRENT).await, 401, "PUBLISHABLE_CLIENT_KEY_REQUIRED_FOR_PROJECT");
    let sentinel = keyless.with("x-stack-publishable-client-key", "__stack_public_client__");
    failed(&sentinel.get(super::CURRENT).await, 401, "PUBLISHABLE_CLIENT_KEY_REQUIRED_FOR_PROJECT");
    assert_eq!(app.client().get(super::CURRENT).await.status(), 200);
}

#[tokio::test]
async fn session_lifetimes_can_be_shortened() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    config(&app, json!({ "session_max_idle_seconds": 300 })).await;
    let bob = app.sign_up("bob@example.com").await;
    let refresh = async |user: &support::SignedInUser| app.signed_in(user).post("/api/v1/auth/sessions/current/refresh", json!({})).await;
    assert_eq!(refresh(&bob).await.status(), 200);
    app.advance(jiff::SignedDuration::from_secs(299));
    let caller = app.client().with("x-stack-refresh-token", &bob.refresh_token);
    assert_eq!(caller.post("/api/v1/auth/sessions/current/refresh", json!({})).await.status(), 200);
    app.advance(jiff::SignedDuration::from_secs(300));
    for user in [&ada, &bob] {
        let caller = app.client().with("x-stack-refresh-token", &user.refresh_token);
        failed(&caller.post("/api/v1/auth/sessions/current/refresh", json!({})).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    }
}

#[tokio::test]
async fn settings_of_projects_are_independent() {
    let app = TestApp::start().await;
    let other = app.another_project().await;
    let ada = app.sign_up("ada@example.com").await;
    config(&app, json!({ "sign_up_enabled": false })).await;

    failed(&app.client_of(&other).post(SIGN_IN, account("ada@example.com")).await, 400, "EMAIL_PASSWORD_MISMATCH");
    let theirs = app.client_of(&other).post(SIGN_UP, account("ada@example.com")).await;
    assert_eq!(theirs.status(), 200, "{}", theirs.text());
    assert_ne!(theirs.json()["user_id"], ada.user_id);
    let stranger = app.client_of(&other).with("x-stack-refresh-token", &ada.refresh_token);
    failed(&stranger.post("/api/v1/auth/sessions/current/refresh", json!({})).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

/// Even a warm instance reads the project and its keys again for each request, unless the operator
/// permits caching them.
#[tokio::test]
async fn warm_instances_apply_new_settings_and_revocations_immediately() {
    let app = TestApp::start().await;
    let others = [app.redeployed(|_| {}), app.redeployed(|_| {})];
    let refused = async |status: u16, code: &str, email: &str| {
        for other in &others {
            failed(&other.client().post(SIGN_UP, account(email)).await, status, code);
        }
    };
    for (index, other) in others.iter().enumerate() {
        assert_eq!(other.client().post(SIGN_UP, account(&format!("warm{index}@example.com"))).await.status(), 200);
    }
    config(&app, json!({ "sign_up_enabled": false })).await;
    refused(400, "SIGN_UP_NOT_ENABLED", "ada@example.com").await;
    config(&app, json!({ "sign_up_enabled": true })).await;
    let sets = app.admin().get("/api/v1/internal/api-keys").await.json();
    let set = format!("/api/v1/internal/api-keys/{}", sets["items"][0]["id"].as_str().unwrap());
    let more = app.another_project().await;
    let wrong = app.admin_of(&more).patch(&set, json!({ "revoked": true })).await;
    failed(&wrong, 404, "API_KEY_NOT_FOUND");
    assert_eq!(app.admin().patch(&set, json!({ "revoked": true })).await.status(), 200);
    refused(401, "INVALID_PUBLISHABLE_CLIENT_KEY", "ada@example.com").await;

    let ended = others.each_ref().map(|other| other.client_of(&more));
    for (index, client) in ended.iter().enumerate() {
        assert_eq!(client.post(SIGN_UP, account(&format!("warm{index}@example.com"))).await.status(), 200);
    }
    assert_eq!(app.admin_of(&more).delete("/api/v1/internal/projects/current").await.status(), 200);
    for client in &ended {
        failed(&client.post(SIGN_UP, account("ada@example.com")).await, 400, "CURRENT_PROJECT_NOT_FOUND");
    }
}
