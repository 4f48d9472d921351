//! Password reset: `send-reset-code`, `reset` and `reset/check-code`.

use jiff::SignedDuration;
use serde_json::json;
use support::TestApp;

const SEND: &str = "/api/v1/auth/password/send-reset-code";
const RESET: &str = "/api/v1/auth/password/reset";
const CHECK: &str = "/api/v1/auth/password/reset/check-code";
const NEW: &str = "a better horse battery";

async fn reset_code(app: &TestApp, email: &str) -> String {
    let sent = app.client().post(SEND, json!({ "email": email, "callback_url": "http://localhost:3000/reset" })).await;
    assert_eq!(sent.status(), 200, "{}", sent.text());
    app.last_mail(email).await.code()
}

async fn sign_in(app: &TestApp, password: &str) -> u16 {
    app.client().post("/api/v1/auth/password/sign-in", json!({ "email": "ada@example.com", "password": password })).await.status()
}

#[tokio::test]
async fn a_reset_sets_the_password_and_ends_every_session() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let code = reset_code(&app, "ada@example.com").await;

    let checked = app.client().post(CHECK, json!({ "code": code })).await;
    assert_eq!((checked.status(), checked.json()), (200, json!({ "is_code_valid": true })));
    let done = app.client().post(RESET, json!({ "code": code, "password": NEW })).await;
    assert_eq!((done.status(), done.json()), (200, json!({ "success": true })));

    assert_eq!((sign_in(&app, NEW).await, sign_in(&app, "correct horse battery").await), (200, 400));
    let refreshed = app.signed_in(&ada).without("x-stack-access-token").post("/api/v1/auth/sessions/current/refresh", json!({})).await;
    assert_eq!(refreshed.code(), "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    let again = app.client().post(RESET, json!({ "code": code, "password": NEW })).await;
    assert_eq!((again.status(), again.code().as_str()), (409, "VERIFICATION_CODE_ALREADY_USED"));
}

#[tokio::test]
async fn an_unknown_address_gets_the_same_response_but_no_email() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let body = |email: &str| json!({ "email": email, "callback_url": "http://localhost:3000/reset" });
    app.recorder.clear();
    let known = app.client().post(SEND, body("ada@example.com")).await;
    let known_calls: Vec<String> = app.recorder.calls().into_iter().map(|(operation, _)| operation).collect();
    app.recorder.clear();
    let unknown = app.client().post(SEND, body("nobody@example.com")).await;
    let unknown_calls: Vec<String> = app.recorder.calls().into_iter().map(|(operation, _)| operation).collect();
    assert_eq!((known.status(), known.json()), (unknown.status(), unknown.json()));
    assert_eq!(known_calls, unknown_calls);
    assert_eq!(app.mails("nobody@example.com").await.len(), 0);
    assert_eq!(app.mails("ada@example.com").await.len(), 1);
    let outbox = app.server().get("/api/v1/emails/outbox").await.json();
    assert_eq!(outbox["items"].as_array().unwrap().len(), 1, "the outbox has no email for the unknown address: {outbox}");
}

#[tokio::test]
async fn a_rejected_password_does_not_consume_the_code() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let code = reset_code(&app, "ada@example.com").await;
    let short = app.client().post(RESET, json!({ "code": code, "password": "seven77" })).await;
    assert_eq!((short.code().as_str(), short.json()["details"]["min_length"].as_u64()), ("PASSWORD_TOO_SHORT", Some(8)));
    let long = app.client().post(RESET, json!({ "code": code, "password": "x".repeat(129) })).await;
    assert_eq!((long.code().as_str(), long.json()["details"]["maxLength"].as_u64()), ("PASSWORD_TOO_LONG", Some(128)));
    assert_eq!(app.client().post(RESET, json!({ "code": code, "password": NEW })).await.status(), 200);
}

#[tokio::test]
async fn a_reset_code_expires_after_an_hour_and_has_no_other_use() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let code = reset_code(&app, "ada@example.com").await;
    for path in ["/api/v1/auth/otp/sign-in", "/api/v1/contact-channels/verify"] {
        assert_eq!(app.client().post(path, json!({ "code": code })).await.code(), "VERIFICATION_CODE_NOT_FOUND", "{path}");
    }
    app.advance(SignedDuration::from_hours(1));
    assert_eq!(app.client().post(CHECK, json!({ "code": code })).await.code(), "VERIFICATION_CODE_EXPIRED");
    assert_eq!(app.client().post(RESET, json!({ "code": code, "password": NEW })).await.code(), "VERIFICATION_CODE_EXPIRED");
}

#[tokio::test]
async fn too_many_attempts_invalidate_a_reset_code() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let code = reset_code(&app, "ada@example.com").await;
    for _ in 0..20 {
        let guess = format!("zzzzzz{}", &code[6..]);
        assert_eq!(app.client().post(CHECK, json!({ "code": guess })).await.code(), "VERIFICATION_CODE_NOT_FOUND");
    }
    assert_eq!(app.client().post(CHECK, json!({ "code": code })).await.code(), "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED");
}

#[tokio::test]
async fn of_concurrent_resets_with_one_code_one_succeeds() {
    let app = std::sync::Arc::new(TestApp::start().await);
    app.sign_up("ada@example.com").await;
    let code = reset_code(&app, "ada@example.com").await;
    let tries = (0..15).map(|n| {
        let (client, code) = (app.client(), code.clone());
        tokio::spawn(async move { client.post(RESET, json!({ "code": code, "password": format!("password number {n}") })).await.status() })
    });
    let mut statuses = Vec::new();
    for answer in tries.collect::<Vec<_>>() {
        statuses.push(answer.await.unwrap());
    }
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    // Later requests find that the code was used, or that the account's credential epoch has
    // changed.
    assert!(statuses.iter().all(|status| matches!(status, 200 | 404 | 409)), "{statuses:?}");
}

#[tokio::test]
async fn settings_and_trusted_urls_are_enforced() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let foreign = app.client().post(SEND, json!({ "email": "ada@example.com", "callback_url": "https://evil.test" })).await;
    assert_eq!(foreign.code(), "REDIRECT_URL_NOT_WHITELISTED");
    let code = reset_code(&app, "ada@example.com").await;
    app.configure(json!({ "config": { "credential_enabled": false } })).await;
    let send = app.client().post(SEND, json!({ "email": "ada@example.com", "callback_url": "http://localhost:1" })).await;
    let reset = app.client().post(RESET, json!({ "code": code, "password": NEW })).await;
    assert_eq!(
        (send.code().as_str(), reset.code().as_str()),
        ("PASSWORD_AUTHENTICATION_NOT_ENABLED", "PASSWORD_AUTHENTICATION_NOT_ENABLED")
    );
}
