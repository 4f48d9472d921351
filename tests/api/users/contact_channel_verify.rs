//! `POST /api/v1/contact-channels/verify`.

use jiff::SignedDuration;
use serde_json::{Value, json};
use store::user;
use support::{Answer, SignedInUser, TestApp};
use wire::id::UserId;

const PATH: &str = "/api/v1/contact-channels/verify";

/// Signs up and requests verification, and returns the user and the emailed code.
async fn sign_up(app: &TestApp, email: &str) -> (SignedInUser, String) {
    let body = json!({ "email": email, "password": "correct horse battery", "verification_callback_url": "http://localhost:3000/verify" });
    let answer = app.client().post("/api/v1/auth/password/sign-up", body).await;
    (SignedInUser::of(email, &answer.json()), app.last_mail(email).await.code())
}

async fn verify(app: &TestApp, code: &str) -> Answer {
    app.client().post(PATH, json!({ "code": code })).await
}

async fn is_verified(app: &TestApp, user: &SignedInUser) -> Value {
    let user = app.sign_in(&user.email).await;
    app.signed_in(&user).get("/api/v1/users/me").await.json()["primary_email_verified"].clone()
}

#[tokio::test]
async fn a_code_verifies_only_its_own_address() {
    let app = TestApp::start().await;
    let (ada, code) = sign_up(&app, "ada@example.com").await;
    let (bob, _) = sign_up(&app, "bob@example.com").await;
    // Codes are not case-sensitive.
    let answer = verify(&app, &code.to_uppercase()).await;
    assert_eq!((answer.status(), answer.json()), (200, json!({ "success": true })));
    assert_eq!((is_verified(&app, &ada).await, is_verified(&app, &bob).await), (json!(true), json!(false)));
    // A verified address can be used to sign in by email.
    assert_eq!(app.sign_in_by_mail("ada@example.com").await.user_id, ada.user_id);
}

#[tokio::test]
async fn any_access_type_can_verify() {
    let app = TestApp::start().await;
    for (caller, email) in [(app.server(), "ada@example.com"), (app.admin(), "bob@example.com")] {
        let (_, code) = sign_up(&app, email).await;
        assert_eq!(caller.post(PATH, json!({ "code": code })).await.status(), 200);
    }
    assert_eq!(app.anonymous().post(PATH, json!({ "code": "x" })).await.code(), "ACCESS_TYPE_REQUIRED");
}

#[tokio::test]
async fn a_code_works_once() {
    let app = TestApp::start().await;
    let (_, code) = sign_up(&app, "ada@example.com").await;
    assert_eq!(verify(&app, &code).await.status(), 200);
    let again = verify(&app, &code).await;
    assert_eq!((again.status(), again.code().as_str()), (409, "VERIFICATION_CODE_ALREADY_USED"));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_redemptions_one_succeeds() {
    let app = TestApp::start().await;
    for round in 0..10 {
        let (_, code) = sign_up(&app, &format!("user{round}@example.com")).await;
        let answers = tokio::join!(verify(&app, &code), verify(&app, &code), verify(&app, &code), verify(&app, &code));
        let mut statuses = [answers.0.status(), answers.1.status(), answers.2.status(), answers.3.status()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409, 409, 409], "round {round}");
    }
}

#[tokio::test]
async fn a_code_expires_after_a_day() {
    let app = TestApp::start().await;
    let (ada, code) = sign_up(&app, "ada@example.com").await;
    let (_, late) = sign_up(&app, "bob@example.com").await;
    app.advance(SignedDuration::from_hours(24) - SignedDuration::from_millis(1));
    assert_eq!(verify(&app, &code).await.status(), 200);
    assert_eq!(is_verified(&app, &ada).await, true);
    app.advance(SignedDuration::from_millis(1));
    let answer = verify(&app, &late).await;
    assert_eq!((answer.status(), answer.code().as_str()), (400, "VERIFICATION_CODE_EXPIRED"));
    // An expired code is reported as expired, even if it was used earlier.
    assert_eq!(verify(&app, &code).await.code(), "VERIFICATION_CODE_EXPIRED");
}

#[tokio::test]
async fn a_code_of_another_purpose_or_project_does_not_exist() {
    let app = TestApp::start().await;
    let (_, code) = sign_up(&app, "ada@example.com").await;
    let other = app.another_project().await;
    let sign_in = app.sign_in_code("bob@example.com").await;
    let unknown = "0".repeat(45);
    let answers =
        [verify(&app, &sign_in).await, verify(&app, &unknown).await, app.client_of(&other).post(PATH, json!({ "code": code })).await];
    for answer in answers {
        assert_eq!((answer.status(), answer.code().as_str()), (404, "VERIFICATION_CODE_NOT_FOUND"));
    }
    // The sign-in code is still valid.
    assert_eq!(app.client().post("/api/v1/auth/otp/sign-in", json!({ "code": sign_in })).await.status(), 200);
}

#[tokio::test]
async fn guessing_ends_after_twenty_attempts() {
    let app = TestApp::start().await;
    let (ada, code) = sign_up(&app, "ada@example.com").await;
    for guess in 0..20 {
        let wrong = format!("{guess:06}{}", &code[6..]);
        assert_eq!(verify(&app, &wrong).await.code(), "VERIFICATION_CODE_NOT_FOUND");
    }
    let answer = verify(&app, &code).await;
    assert_eq!((answer.status(), answer.code().as_str()), (400, "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED"));
    assert_eq!(is_verified(&app, &ada).await, false);
}

#[tokio::test]
async fn the_twentieth_attempt_still_counts() {
    let app = TestApp::start().await;
    let (_, code) = sign_up(&app, "ada@example.com").await;
    for guess in 0..19 {
        verify(&app, &format!("{guess:06}{}", &code[6..])).await;
    }
    assert_eq!(verify(&app, &code).await.status(), 200);
}

#[tokio::test]
async fn a_removed_address_is_not_found() {
    let app = TestApp::start().await;
    let (ada, code) = sign_up(&app, "ada@example.com").await;
    let row = app.app.store.user(app.project_id(), UserId::parse(&ada.user_id).unwrap()).await.unwrap().unwrap();
    let mut user = row.user;
    user.channels.clear();
    app.app.store.write(user::replace(app.project_id(), &user, row.version).unwrap()).await.unwrap();
    let answer = verify(&app, &code).await;
    assert_eq!((answer.status(), answer.code().as_str()), (404, "CONTACT_CHANNEL_NOT_FOUND"));
    assert_eq!(answer.header("x-stack-known-error"), None);
}

#[tokio::test]
async fn a_malformed_code_is_rejected() {
    let app = TestApp::start().await;
    let short = "0".repeat(44);
    for body in [json!({}), json!({ "code": "x" }), json!({ "code": short }), json!({ "code": 1 }), json!({ "code": null })] {
        let answer = app.client().post(PATH, body.clone()).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{body}");
        assert!(answer.text().contains("body.code"), "{}", answer.text());
    }
    let answer = app.client().post(PATH, json!({ "code": "0".repeat(45), "more": 1 })).await;
    assert!(answer.text().contains("body.more"), "{}", answer.text());
}

#[tokio::test]
async fn a_failed_write_verifies_nothing_and_keeps_the_code() {
    let app = TestApp::start().await;
    let (ada, code) = sign_up(&app, "ada@example.com").await;
    // The first write, which counts the attempt, succeeds. The second write, which redeems the
    // code, fails.
    app.recorder.fail_write(1, "InternalServerError");
    let first = verify(&app, &code).await;
    assert!([200, 503].contains(&first.status()), "{}", first.text());
    if first.status() == 503 {
        assert_eq!(is_verified(&app, &ada).await, false);
        assert_eq!(verify(&app, &code).await.status(), 200);
    }
    assert_eq!(is_verified(&app, &ada).await, true);
}
