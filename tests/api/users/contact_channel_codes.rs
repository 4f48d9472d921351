//! Codes for contact channels. The codes are sent by channel or by address, and checked.

use serde_json::{Value, json};
use support::{SignedInUser, TestApp};

use super::contact_channels::{PATH, add, assert_error, channels, new};

const OWN: &str = "/api/v1/contact-channels/send-verification-code";
const VERIFY: &str = "/api/v1/contact-channels/verify";
const CHECK: &str = "/api/v1/contact-channels/verify/check-code";
const CALLBACK: &str = "http://localhost:3000/verify?a=1";

fn send_path(user: &str, channel: &Value) -> String {
    format!("{PATH}/{user}/{}/send-verification-code", channel["id"].as_str().unwrap())
}

async fn is_verified(app: &TestApp, user: &SignedInUser, value: &str) -> bool {
    let channels = channels(app, &user.user_id).await;
    channels.iter().find(|channel| channel["value"] == value).unwrap()["is_verified"] == true
}

#[tokio::test]
async fn a_code_verifies_only_its_own_channel() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let caller = app.signed_in(&ada);
    let work = add(&caller, new("me", "ada@work.example")).await;
    let sent = caller.post(&send_path("me", &work), json!({ "callback_url": CALLBACK })).await;
    assert_eq!((sent.status(), sent.json()), (200, json!({ "success": true })));
    let mail = app.last_mail("ada@work.example").await;
    assert!(mail.link().starts_with("http://localhost:3000/verify?a=1&code="), "{}", mail.link());
    assert!(app.mails("ada@example.com").await.is_empty());

    let code = json!({ "code": mail.code() });
    let checked = app.client().post(CHECK, code.clone()).await;
    assert_eq!((checked.status(), checked.json()), (200, json!({ "is_code_valid": true })));
    assert!(!is_verified(&app, &ada, "ada@work.example").await);
    assert_eq!(app.client().post(VERIFY, code.clone()).await.status(), 200);
    assert!(is_verified(&app, &ada, "ada@work.example").await);
    assert!(!is_verified(&app, &ada, "ada@example.com").await);
    assert_error(&app.client().post(CHECK, code).await, 409, "VERIFICATION_CODE_ALREADY_USED");
    assert_error(&caller.post(&send_path("me", &work), json!({ "callback_url": CALLBACK })).await, 409, "EMAIL_ALREADY_VERIFIED");
}

#[tokio::test]
async fn a_code_for_an_old_value_is_invalid() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let caller = app.signed_in(&ada);
    let work = add(&caller, new("me", "ada@work.example")).await;
    caller.post(&send_path("me", &work), json!({ "callback_url": CALLBACK })).await;
    let code = app.last_mail("ada@work.example").await.code();
    caller.patch(&format!("{PATH}/me/{}", work["id"].as_str().unwrap()), json!({ "value": "ada@home.example" })).await;
    assert_error(&app.client().post(VERIFY, json!({ "code": code })).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert!(!is_verified(&app, &ada, "ada@home.example").await);
}

#[tokio::test]
async fn the_primary_address_can_identify_the_channel() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let caller = app.signed_in(&ada);
    add(&caller, new("me", "ada@work.example")).await;
    let body = |email: &str| json!({ "email": email, "callback_url": CALLBACK });
    assert_error(&app.client().post(OWN, body("ada@example.com")).await, 401, "USER_AUTHENTICATION_REQUIRED");
    let other = caller.post(OWN, body("ada@work.example")).await;
    assert_error(&other, 400, "EMAIL_IS_NOT_PRIMARY_EMAIL");
    assert_eq!(other.json()["details"], json!({ "email": "ada@work.example", "primary_email": "ada@example.com" }));
    assert!(app.mails("ada@work.example").await.is_empty());

    assert_eq!(caller.post(OWN, body("Ada@Example.com")).await.json(), json!({ "success": true }));
    let code = app.last_mail("ada@example.com").await.code();
    assert_eq!(app.client().post(VERIFY, json!({ "code": code })).await.status(), 200);
    assert_error(&caller.post(OWN, body("ada@example.com")).await, 409, "EMAIL_ALREADY_VERIFIED");
}

#[tokio::test]
async fn a_missing_primary_address_is_reported() {
    let app = TestApp::start().await;
    let caller = app.signed_in(&app.sign_up("ada@example.com").await);
    let channel = caller.get(&format!("{PATH}?user_id=me")).await.json()["items"][0].clone();
    caller.delete(&format!("{PATH}/me/{}", channel["id"].as_str().unwrap())).await;
    let answer = caller.post(OWN, json!({ "email": "ada@example.com", "callback_url": CALLBACK })).await;
    assert_error(&answer, 400, "EMAIL_IS_NOT_PRIMARY_EMAIL");
    assert_eq!(answer.json()["details"]["primary_email"], Value::Null);
}

#[tokio::test]
async fn a_link_to_an_untrusted_domain_is_not_sent() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let channel = channels(&app, &ada.user_id).await.remove(0);
    for url in ["https://evil.example/verify", "http://localhost.evil.example/"] {
        let answer = app.signed_in(&ada).post(&send_path("me", &channel), json!({ "callback_url": url })).await;
        assert_error(&answer, 400, "REDIRECT_URL_NOT_WHITELISTED");
        let answer = app.signed_in(&ada).post(OWN, json!({ "email": "ada@example.com", "callback_url": url })).await;
        assert_error(&answer, 400, "REDIRECT_URL_NOT_WHITELISTED");
    }
    assert!(app.mails("ada@example.com").await.is_empty());
}

#[tokio::test]
async fn a_server_can_send_codes_for_any_user_and_unknown_users_are_reported() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let channel = channels(&app, &ada.user_id).await.remove(0);
    assert_eq!(app.server().post(&send_path(&ada.user_id, &channel), json!({ "callback_url": CALLBACK })).await.status(), 200);
    assert_eq!(app.mails("ada@example.com").await.len(), 1);
    let nobody = "0f9b6c1e-2f4b-4d7a-8a34-5b9f0c6d7e81";
    let answer = app.server().post(&send_path(nobody, &channel), json!({ "callback_url": CALLBACK })).await;
    assert_error(&answer, 400, "USER_ID_DOES_NOT_EXIST");
    let answer = app.server().post(&send_path(&ada.user_id, &json!({ "id": nobody })), json!({ "callback_url": CALLBACK })).await;
    assert_error(&answer, 404, "CONTACT_CHANNEL_NOT_FOUND");
}

#[tokio::test]
async fn a_code_and_its_email_are_written_atomically() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let channel = channels(&app, &ada.user_id).await.remove(0);
    app.recorder.clear();
    app.recorder.fail_write(0, "AccessDeniedException");
    let path = send_path("me", &channel);
    let failed = app.signed_in(&ada).post(&path, json!({ "callback_url": CALLBACK })).await;
    assert_error(&failed, 500, "INTERNAL_ERROR");
    assert!(app.mails("ada@example.com").await.is_empty());
    assert_eq!(app.signed_in(&ada).post(&path, json!({ "callback_url": CALLBACK })).await.status(), 200);
    assert_eq!(app.mails("ada@example.com").await.len(), 1);
}

#[tokio::test]
async fn a_check_counts_as_an_attempt_and_explains_rejections() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let channel = channels(&app, &ada.user_id).await.remove(0);
    app.signed_in(&ada).post(&send_path("me", &channel), json!({ "callback_url": CALLBACK })).await;
    let code = app.last_mail("ada@example.com").await.code();
    for guess in 0..19 {
        let wrong = format!("{guess:06}{}", &code[6..]);
        assert_error(&app.client().post(CHECK, json!({ "code": wrong })).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    }
    assert_eq!(app.client().post(CHECK, json!({ "code": code.to_uppercase() })).await.status(), 200);
    assert_error(&app.client().post(CHECK, json!({ "code": code })).await, 400, "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED");
    assert_error(&app.client().post(VERIFY, json!({ "code": code })).await, 400, "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED");
    assert_error(&app.client().post(CHECK, json!({ "code": "short" })).await, 400, "SCHEMA_ERROR");
    app.advance(jiff::SignedDuration::from_hours(24));
    assert_error(&app.client().post(CHECK, json!({ "code": code })).await, 400, "VERIFICATION_CODE_EXPIRED");
}

#[tokio::test]
async fn a_removed_address_cannot_reset_the_password() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let caller = app.signed_in(&ada);
    let mut body = new(&ada.user_id, "ada@work.example");
    body["used_for_auth"] = json!(true);
    let work = add(&app.server(), body).await;
    let mut codes = Vec::new();
    for email in ["ada@work.example", "ada@example.com"] {
        let body = json!({ "email": email, "callback_url": "http://localhost/reset" });
        assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", body).await.status(), 200);
        codes.push(app.last_mail(email).await.code());
    }
    caller.delete(&format!("{PATH}/me/{}", work["id"].as_str().unwrap())).await;
    let reset = async |code: &str| {
        app.client().post("/api/v1/auth/password/reset", json!({ "code": code, "password": "another horse battery" })).await
    };
    assert_error(&reset(&codes[0]).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    // A code that was sent to the remaining address before the change is also invalid.
    assert_error(&reset(&codes[1]).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    app.sign_in("ada@example.com").await;
}

#[tokio::test]
async fn an_anonymous_user_proves_no_address_while_sign_up_is_off() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "anonymous_creation_enabled": true } })).await;
    let visitor = app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json();
    let caller = app.client().with("x-stack-access-token", visitor["access_token"].as_str().unwrap());
    let caller = caller.with("x-stack-allow-anonymous-user", "true");
    let primary = json!({ "user_id": "me", "type": "email", "value": "victim@example.com", "used_for_auth": false, "is_primary": true });
    let channel = add(&caller, primary).await;
    let ada = app.sign_up("ada@example.com").await;
    app.configure(json!({ "config": { "sign_up_enabled": false } })).await;
    let (by_id, body) = (send_path("me", &channel), json!({ "callback_url": CALLBACK }));
    assert_error(&caller.post(&by_id, body.clone()).await, 400, "SIGN_UP_NOT_ENABLED");
    let by_address = json!({ "email": "victim@example.com", "callback_url": CALLBACK });
    assert_error(&caller.post(OWN, by_address.clone()).await, 400, "SIGN_UP_NOT_ENABLED");
    assert!(app.mails("victim@example.com").await.is_empty());
    // Neither users who have signed up nor servers are affected.
    let own = json!({ "email": "ada@example.com", "callback_url": CALLBACK });
    assert_eq!(app.signed_in(&ada).post(OWN, own).await.status(), 200);
    let by_server = send_path(visitor["user_id"].as_str().unwrap(), &channel);
    assert_eq!(app.server().post(&by_server, body.clone()).await.status(), 200);
    app.configure(json!({ "config": { "sign_up_enabled": true } })).await;
    assert_eq!(caller.post(&by_id, body).await.status(), 200);
}
