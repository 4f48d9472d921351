//! `POST /api/v1/auth/mfa/sign-in`, and the sign-ins that require this operation.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{Answer, SignedInUser, TestApp, authenticator_code};

use super::{assert_error, assert_takes_client_access, problems};

const PATH: &str = "/api/v1/auth/mfa/sign-in";
const ME: &str = "/api/v1/users/me";
const SECRET: &[u8] = b"a secret of an app";

pub(crate) fn now_code(app: &TestApp) -> String {
    authenticator_code(SECRET, app.now().as_second())
}

/// A code that the authenticator app does not show within a minute of the current time.
fn wrong_code(app: &TestApp) -> String {
    let right: Vec<String> = (-2..=2).map(|step| authenticator_code(SECRET, app.now().as_second() + 30 * step)).collect();
    (0..1_000_000).map(|number| format!("{number:06}")).find(|code| !right.contains(code)).unwrap()
}

/// Signs up, and sets up an authenticator app as the SDK does.
pub(crate) async fn user_with_app(app: &TestApp, email: &str) -> SignedInUser {
    let user = app.sign_up(email).await;
    let answer = app.signed_in(&user).patch(ME, json!({ "totp_secret_base64": STANDARD.encode(SECRET) })).await;
    assert_eq!((answer.status(), &answer.json()["requires_totp_mfa"]), (200, &json!(true)));
    user
}

async fn password_sign_in(app: &TestApp, email: &str) -> Answer {
    app.client().post("/api/v1/auth/password/sign-in", json!({ "email": email, "password": "correct horse battery" })).await
}

/// Signs in with the password, and returns the attempt code.
pub(crate) async fn attempt(app: &TestApp, email: &str) -> String {
    let details = assert_error(&password_sign_in(app, email).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
    details["attempt_code"].as_str().unwrap().to_owned()
}

pub(crate) async fn sign_in(app: &TestApp, attempt: &str, totp: &str) -> Answer {
    app.client().post(PATH, json!({ "code": attempt, "type": "totp", "totp": totp })).await
}

pub(crate) fn claims(token: &Value) -> Value {
    let payload = token.as_str().unwrap().split('.').nth(1).unwrap().to_owned();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

#[tokio::test]
async fn a_password_and_a_totp_code_sign_in() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, "ada@example.com").await;
    let first = password_sign_in(&app, "ada@example.com").await;
    let code = assert_error(&first, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED")["attempt_code"].as_str().unwrap().to_owned();
    assert_eq!(code.len(), 45);
    assert_eq!(first.header("x-stack-known-error"), Some("MULTI_FACTOR_AUTHENTICATION_REQUIRED"));
    let sessions = app.signed_in(&ada).get("/api/v1/auth/sessions").await.json();
    assert_eq!(sessions["items"].as_array().unwrap().len(), 1, "the first factor starts no session");

    let answer = sign_in(&app, &code, &now_code(&app)).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let body = answer.json();
    assert_eq!((&body["user_id"], &body["is_new_user"]), (&json!(ada.user_id), &json!(false)));
    assert_eq!(claims(&body["access_token"])["requires_totp_mfa"], true);
    let again = SignedInUser::of("ada@example.com", &body);
    assert_eq!(app.signed_in(&again).get(ME).await.json()["requires_totp_mfa"], true);
    let refreshed = app.client().with("x-stack-refresh-token", &again.refresh_token);
    assert_eq!(refreshed.request("POST", "/api/v1/auth/sessions/current/refresh").send().await.status(), 200);
}

#[tokio::test]
async fn a_wrong_password_does_not_reveal_the_second_factor() {
    let app = TestApp::start().await;
    user_with_app(&app, "ada@example.com").await;
    let body = json!({ "email": "ada@example.com", "password": "wrong horse battery" });
    assert_error(&app.client().post("/api/v1/auth/password/sign-in", body).await, 400, "EMAIL_PASSWORD_MISMATCH");
}

#[tokio::test]
async fn sign_in_by_email_requires_totp_and_consumes_the_emailed_code() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    app.signed_in(&ada).patch(ME, json!({ "totp_secret_base64": STANDARD.encode(SECRET) })).await;
    let mail = app.sign_in_code("ada@example.com").await;
    let answer = app.client().post("/api/v1/auth/otp/sign-in", json!({ "code": mail })).await;
    let details = assert_error(&answer, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
    let again = app.client().post("/api/v1/auth/otp/sign-in", json!({ "code": mail })).await;
    assert_error(&again, 409, "VERIFICATION_CODE_ALREADY_USED");
    let answer = sign_in(&app, details["attempt_code"].as_str().unwrap(), &now_code(&app)).await;
    assert_eq!((answer.status(), &answer.json()["user_id"]), (200, &json!(ada.user_id)));
}

#[tokio::test]
async fn a_wrong_totp_code_can_be_corrected_and_the_right_one_works_once() {
    let app = TestApp::start().await;
    user_with_app(&app, "ada@example.com").await;
    let code = attempt(&app, "ada@example.com").await;
    for wrong in [&wrong_code(&app), "", "123", "nonsense", "1234567"] {
        assert_error(&sign_in(&app, &code, wrong).await, 400, "INVALID_TOTP_CODE");
    }
    assert_eq!(sign_in(&app, &code.to_uppercase(), &now_code(&app)).await.status(), 200);
    app.advance(SignedDuration::from_secs(30));
    assert_error(&sign_in(&app, &code, &now_code(&app)).await, 409, "VERIFICATION_CODE_ALREADY_USED");
}

#[tokio::test]
async fn a_totp_code_is_read_in_every_form_in_which_it_is_pasted() {
    let app = TestApp::start().await;
    user_with_app(&app, "ada@example.com").await;
    for number in 0..4 {
        // Each code works once.
        app.advance(SignedDuration::from_secs(60));
        let code = now_code(&app);
        let pasted = match number {
            0 => format!("{} {}", &code[..3], &code[3..]),
            1 => format!("\u{200b}{}\u{a0}{}\n", &code[..3], &code[3..]),
            2 => format!("{}-{}", &code[..3], &code[3..]),
            _ => code.bytes().filter_map(|digit| char::from_u32(u32::from(digit) + 0xfee0)).collect(),
        };
        let attempt = attempt(&app, "ada@example.com").await;
        assert_eq!(sign_in(&app, &attempt, &pasted).await.status(), 200, "{pasted:?}");
    }
}

#[tokio::test]
async fn a_totp_code_is_valid_for_30_seconds() {
    let app = TestApp::start().await;
    user_with_app(&app, "ada@example.com").await;
    let code = attempt(&app, "ada@example.com").await;
    let shown = now_code(&app);
    app.advance(SignedDuration::from_secs(30));
    assert_error(&sign_in(&app, &code, &shown).await, 400, "INVALID_TOTP_CODE");
    let next = authenticator_code(SECRET, app.now().as_second() + 30);
    assert_error(&sign_in(&app, &code, &next).await, 400, "INVALID_TOTP_CODE");
    app.advance(SignedDuration::from_secs(29));
    assert_eq!(sign_in(&app, &code, &now_code(&app)).await.status(), 200);
}

#[tokio::test]
async fn a_used_totp_code_cannot_be_replayed() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, "ada@example.com").await;
    let (first, second) = (attempt(&app, "ada@example.com").await, attempt(&app, "ada@example.com").await);
    let shown = now_code(&app);
    assert_eq!(sign_in(&app, &first, &shown).await.status(), 200);
    assert_error(&sign_in(&app, &second, &shown).await, 400, "INVALID_TOTP_CODE");
    // Updating the user does not make the used TOTP code valid again.
    app.signed_in(&ada).patch(ME, json!({ "display_name": "Ada" })).await;
    assert_error(&sign_in(&app, &second, &shown).await, 400, "INVALID_TOTP_CODE");
    app.advance(SignedDuration::from_secs(30));
    assert_eq!(sign_in(&app, &second, &now_code(&app)).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_attempts_one_signs_in() {
    let app = TestApp::start().await;
    user_with_app(&app, "ada@example.com").await;
    for round in 0..10 {
        app.advance(SignedDuration::from_secs(30));
        let (first, second) = (attempt(&app, "ada@example.com").await, attempt(&app, "ada@example.com").await);
        let shown = now_code(&app);
        let answers = tokio::join!(
            sign_in(&app, &first, &shown),
            sign_in(&app, &first, &shown),
            sign_in(&app, &second, &shown),
            sign_in(&app, &second, &shown)
        );
        let statuses = [&answers.0, &answers.1, &answers.2, &answers.3].map(Answer::status);
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "round {round}: {statuses:?}");
        assert!(statuses.iter().all(|status| [200, 400, 409].contains(status)), "round {round}: {statuses:?}");
    }
}

#[tokio::test]
async fn guessing_ends_after_twenty_attempts() {
    let app = TestApp::start().await;
    user_with_app(&app, "ada@example.com").await;
    let (guessed, other) = (attempt(&app, "ada@example.com").await, attempt(&app, "ada@example.com").await);
    for _ in 0..20 {
        assert_error(&sign_in(&app, &guessed, &wrong_code(&app)).await, 400, "INVALID_TOTP_CODE");
    }
    assert_error(&sign_in(&app, &guessed, &now_code(&app)).await, 400, "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED");
    for _ in 0..19 {
        assert_error(&sign_in(&app, &other, &wrong_code(&app)).await, 400, "INVALID_TOTP_CODE");
    }
    assert_eq!(sign_in(&app, &other, &now_code(&app)).await.status(), 200, "the twentieth attempt can still succeed");
}

#[tokio::test]
async fn a_pending_sign_in_expires_after_five_minutes() {
    let app = TestApp::start().await;
    user_with_app(&app, "ada@example.com").await;
    let (early, late) = (attempt(&app, "ada@example.com").await, attempt(&app, "ada@example.com").await);
    app.advance(SignedDuration::from_mins(5) - SignedDuration::from_millis(1));
    assert_eq!(sign_in(&app, &early, &now_code(&app)).await.status(), 200);
    app.advance(SignedDuration::from_millis(1));
    assert_error(&sign_in(&app, &late, &now_code(&app)).await, 400, "VERIFICATION_CODE_EXPIRED");
}

#[tokio::test]
async fn attempt_codes_are_not_interchangeable_with_other_codes() {
    let app = TestApp::start().await;
    user_with_app(&app, "ada@example.com").await;
    let code = attempt(&app, "ada@example.com").await;
    for (path, body) in [
        ("/api/v1/auth/otp/sign-in", json!({ "code": code })),
        ("/api/v1/contact-channels/verify", json!({ "code": code })),
        ("/api/v1/auth/password/reset", json!({ "code": code, "password": "another password" })),
    ] {
        assert_error(&app.client().post(path, body).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    }
    let mail = app.sign_in_code("bob@example.com").await;
    for other in [mail, "0".repeat(45)] {
        assert_error(&sign_in(&app, &other, &now_code(&app)).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    }
    let other = app.another_project().await;
    let body = json!({ "code": code, "type": "totp", "totp": now_code(&app) });
    assert_error(&app.client_of(&other).post(PATH, body).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_eq!(sign_in(&app, &code, &now_code(&app)).await.status(), 200);
}

#[tokio::test]
async fn a_password_change_or_a_deletion_ends_a_pending_sign_in() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, "ada@example.com").await;
    let code = attempt(&app, "ada@example.com").await;
    let path = format!("/api/v1/users/{}", ada.user_id);
    assert_eq!(app.server().patch(&path, json!({ "password": "another password" })).await.status(), 200);
    assert_error(&sign_in(&app, &code, &now_code(&app)).await, 404, "VERIFICATION_CODE_NOT_FOUND");

    let bob = user_with_app(&app, "bob@example.com").await;
    let code = attempt(&app, "bob@example.com").await;
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", bob.user_id)).await.status(), 200);
    assert_error(&sign_in(&app, &code, &now_code(&app)).await, 404, "VERIFICATION_CODE_NOT_FOUND");
}

#[tokio::test]
async fn the_app_can_be_replaced_and_removed() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, "ada@example.com").await;
    let waiting = attempt(&app, "ada@example.com").await;
    let new = b"another secret of an app";
    assert_eq!(app.signed_in(&ada).patch(ME, json!({ "totp_secret_base64": STANDARD.encode(new) })).await.status(), 200);
    assert_error(&sign_in(&app, &waiting, &now_code(&app)).await, 400, "INVALID_TOTP_CODE");
    assert_eq!(sign_in(&app, &waiting, &authenticator_code(new, app.now().as_second())).await.status(), 200);

    let waiting = attempt(&app, "ada@example.com").await;
    let me = app.signed_in(&ada).patch(ME, json!({ "totp_secret_base64": null })).await.json();
    assert_eq!(me["requires_totp_mfa"], false);
    assert_error(&sign_in(&app, &waiting, &authenticator_code(new, app.now().as_second())).await, 400, "INVALID_TOTP_CODE");
    assert_eq!(password_sign_in(&app, "ada@example.com").await.status(), 200);
}

#[tokio::test]
async fn the_totp_secret_is_never_returned_and_stored_sealed() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let secret = STANDARD.encode(SECRET);
    app.recorder.clear();
    let answer = app.server().patch(&format!("/api/v1/users/{}", ada.user_id), json!({ "totp_secret_base64": secret })).await;
    assert_eq!(answer.json()["requires_totp_mfa"], true);
    assert!(!answer.text().contains(&secret));
    let written = app.recorder.calls();
    assert!(written.iter().any(|(operation, body)| operation == "TransactWriteItems" && body.contains("totp")));
    assert!(written.iter().all(|(_, body)| !body.contains(&secret)), "the secret is stored in the clear");
    for caller in [app.signed_in(&ada), app.server().with("x-stack-access-token", &ada.access_token)] {
        assert!(!caller.get(ME).await.text().contains("totp_secret"));
    }
}

#[tokio::test]
async fn invalid_secrets_and_requests_are_rejected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for secret in [json!(""), json!("not base64!"), json!(STANDARD.encode(b"too short")), json!(STANDARD.encode([7; 65])), json!(7)] {
        let answer = app.signed_in(&ada).patch(ME, json!({ "totp_secret_base64": secret })).await;
        assert!(problems(&answer)[0].starts_with("body.totp_secret_base64"), "{}", answer.text());
    }
    assert_eq!(password_sign_in(&app, "ada@example.com").await.status(), 200);
    let answer = app.client().post(PATH, json!({ "code": "x", "type": "sms", "totp": 123_456, "more": 1 })).await;
    assert_eq!(problems(&answer).len(), 4);
    assert_eq!(problems(&app.client().post(PATH, json!({})).await).len(), 2);
    assert_takes_client_access(&app, "POST", PATH).await;
}

#[tokio::test]
async fn a_failed_write_leaves_the_sign_in_unchanged() {
    let app = TestApp::start().await;
    user_with_app(&app, "ada@example.com").await;
    let code = attempt(&app, "ada@example.com").await;
    // The first write, which counts the attempt, succeeds. The second write, which would start the
    // session, fails.
    app.recorder.fail_write(1, "ValidationException");
    assert_eq!(sign_in(&app, &code, &now_code(&app)).await.status(), 500);
    assert_eq!(sign_in(&app, &code, &now_code(&app)).await.status(), 200);
}
