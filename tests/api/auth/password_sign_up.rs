//! `POST /api/v1/auth/password/sign-up`.

use serde_json::json;
use support::TestApp;

const PATH: &str = "/api/v1/auth/password/sign-up";

#[tokio::test]
async fn an_address_signs_up_once() {
    let app = TestApp::start().await;
    let ada = json!({ "email": "Ada@Example.com ", "password": "correct horse battery" });

    let first = app.client().post(PATH, ada.clone()).await;
    assert_eq!(first.status(), 200, "{}", first.text());

    let second = app.client().post(PATH, ada).await;
    assert_eq!(second.status(), 409);
    assert_eq!(second.json()["code"], "USER_EMAIL_ALREADY_EXISTS");
    assert_eq!(second.json()["details"], json!({ "email": "ada@example.com", "would_work_if_email_was_verified": false }));
}

#[tokio::test]
async fn a_verification_mail_brings_a_code_that_verifies() {
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery", "verification_callback_url": "http://localhost:3000/verify?x=1" });
    let answer = app.client().post(PATH, body).await;
    let ada = support::SignedIn::of("ada@example.com", &answer.json());

    let mail = app.last_mail("ada@example.com").await;
    assert!(mail.link().starts_with("http://localhost:3000/verify?x=1&code="), "{}", mail.link());
    let verified = app.client().post("/api/v1/contact-channels/verify", json!({ "code": mail.code() })).await;
    assert_eq!((verified.status(), verified.json()), (200, json!({ "success": true })));

    let me = app.signed_in(&ada).get("/api/v1/users/me").await;
    assert_eq!(me.json()["primary_email_verified"], true);
}
