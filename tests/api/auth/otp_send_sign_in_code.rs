//! `POST /api/v1/auth/otp/send-sign-in-code`.

use serde_json::{Value, json};
use support::TestApp;

use super::{assert_error, assert_takes_client_access, problems};

const PATH: &str = "/api/v1/auth/otp/send-sign-in-code";
const SIGN_IN: &str = "/api/v1/auth/otp/sign-in";

fn ada() -> Value {
    json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/magic?code=old&x=1" })
}

#[tokio::test]
async fn the_email_has_the_link_and_code_and_the_response_has_the_nonce() {
    let app = TestApp::start().await;
    let answer = app.client().post(PATH, ada()).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert_eq!(answer.json().as_object().unwrap().keys().collect::<Vec<_>>(), ["nonce"]);

    let mail = app.last_mail("ada@example.com").await;
    let code = mail.code();
    assert_eq!(code.len(), 45);
    assert!(code.bytes().all(|b| b"0123456789abcdefghjkmnpqrstvwxyz".contains(&b)), "{code}");
    assert_eq!(mail.link(), format!("http://localhost:3000/magic?x=1&code={code}"));
    assert_eq!(answer.json()["nonce"], code[6..]);
    assert!(mail.0.text.contains(&code[..6].to_uppercase()), "{}", mail.0.text);
}

#[tokio::test]
async fn no_account_is_created_before_the_code_is_redeemed() {
    let app = TestApp::start().await;
    app.sign_in_code("ada@example.com").await;
    assert!(app.app.store.user_ids(app.project_id()).await.unwrap().is_empty());
    app.sign_up("ada@example.com").await;
}

#[tokio::test]
async fn a_second_code_leaves_the_first_one_valid() {
    let app = TestApp::start().await;
    let first = app.sign_in_code("ada@example.com").await;
    let second = app.sign_in_code("ada@example.com").await;
    assert_ne!(first, second);
    for code in [first, second] {
        assert_eq!(app.client().post(SIGN_IN, json!({ "code": code })).await.status(), 200);
    }
}

#[tokio::test]
async fn an_account_with_an_unverified_address_gets_a_code() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    assert_eq!(app.client().post(PATH, ada()).await.status(), 200);
    assert_eq!(app.mails("ada@example.com").await.len(), 1);
}

#[tokio::test]
async fn with_sign_in_by_email_disabled_nothing_is_sent() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "magic_link_enabled": false } })).await;
    assert_error(&app.client().post(PATH, ada()).await, 403, "MAGIC_LINK_NOT_ENABLED");
    assert!(app.mails("ada@example.com").await.is_empty());
}

#[tokio::test]
async fn with_sign_up_disabled_only_existing_accounts_get_codes() {
    let app = TestApp::start().await;
    app.sign_in_by_mail("ada@example.com").await;
    app.configure(json!({ "config": { "sign_up_enabled": false } })).await;
    let new = json!({ "email": "new@example.com", "callback_url": "http://localhost/" });
    assert_error(&app.client().post(PATH, new).await, 400, "SIGN_UP_NOT_ENABLED");
    assert!(app.mails("new@example.com").await.is_empty());
    assert_eq!(app.client().post(PATH, ada()).await.status(), 200);
}

#[tokio::test]
async fn an_untrusted_callback_gets_no_code() {
    let app = TestApp::start().await;
    for url in ["https://evil.test/", "http://localhost.evil.test/", "stack-auth-mobile-oauth-url://success", "http://a@localhost/"] {
        let answer = app.client().post(PATH, json!({ "email": "ada@example.com", "callback_url": url })).await;
        assert_error(&answer, 400, "REDIRECT_URL_NOT_WHITELISTED");
    }
    assert!(app.mails("ada@example.com").await.is_empty());

    app.configure(json!({ "config": { "allow_localhost": false } })).await;
    let refused = app.client().post(PATH, ada()).await;
    assert_error(&refused, 400, "REDIRECT_URL_NOT_WHITELISTED");
    let message = refused.json()["error"].as_str().unwrap().to_owned();
    assert!(message.starts_with("redirect URL http://localhost:3000 is not trusted: add its domain"), "{message}");
    assert!(message.contains("`config.domains`") && message.contains("`config.allow_localhost`"), "{message}");
}

#[tokio::test]
async fn the_body_is_checked_field_by_field() {
    let app = TestApp::start().await;
    let answer = app.client().post(PATH, json!({ "email": "a..b@example.com", "callback_url": "relative", "lang": "de" })).await;
    let problems = problems(&answer);
    for path in ["body.email ", "body.callback_url ", "body.lang "] {
        assert!(problems.iter().any(|problem| problem.starts_with(path)), "{path} in {problems:?}");
    }
    let mut bots = ada();
    bots["bot_challenge_token"] = json!("token");
    bots["bot_challenge_phase"] = json!("visible");
    bots["bot_challenge_unavailable"] = json!("true");
    assert_eq!(app.client().post(PATH, bots).await.status(), 200);
}

#[tokio::test]
async fn a_code_that_cannot_be_stored_is_not_sent() {
    let app = TestApp::start().await;
    app.recorder.fail_write(0, "AccessDeniedException");
    assert_error(&app.client().post(PATH, ada()).await, 500, "INTERNAL_ERROR");
    assert!(app.mails("ada@example.com").await.is_empty());
}

#[tokio::test]
async fn client_access_is_required() {
    let app = TestApp::start().await;
    assert_takes_client_access(&app, "POST", PATH).await;
    assert_eq!(app.server().post(PATH, ada()).await.status(), 200);
}
