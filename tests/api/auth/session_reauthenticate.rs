//! `POST /api/v1/auth/sessions/current/reauthenticate`, and the changes that ask for it.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{Answer, SignedIn, TestApp, authenticator_code};

use super::{assert_error, problems};

const PATH: &str = "/api/v1/auth/sessions/current/reauthenticate";
const PASSWORD: &str = "correct horse battery";
const AUTHENTICATOR: &[u8] = b"12345678901234567890";
const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=";

async fn configure(app: &TestApp, seconds: u32) {
    app.configure(json!({ "config": { "reauthentication_max_age_seconds": seconds } })).await;
}

async fn prove(app: &TestApp, user: &SignedIn, body: Value) -> Answer {
    app.signed_in(user).post(PATH, body).await
}

/// A change of how the user signs in.
async fn change(app: &TestApp, user: &SignedIn) -> Answer {
    app.signed_in(user).patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await
}

/// A user whose session is older than the project wants.
async fn stale(app: &TestApp) -> SignedIn {
    let ada = app.sign_up("ada@example.com").await;
    configure(app, 60).await;
    app.advance(SignedDuration::from_secs(60));
    ada
}

#[tokio::test]
async fn every_change_of_how_a_user_signs_in_asks_for_a_fresh_proof() {
    let app = TestApp::start().await;
    let ada = stale(&app).await;
    let own = app.signed_in(&ada);
    let list = own.get("/api/v1/contact-channels?user_id=me").await.json();
    let channel = format!("/api/v1/contact-channels/me/{}", list["items"][0]["id"].as_str().unwrap());
    let email = json!({ "user_id": "me", "value": "a@example.com", "type": "email", "used_for_auth": true });
    let update = json!({ "old_password": PASSWORD, "new_password": "a better horse battery" });
    let account = "/api/v1/oauth-providers/me/8c4e2b7a-6d1f-4e3c-9a5b-2d8f7c6e1b90";
    let table = app.table();
    let changes = [
        ("POST", "/api/v1/contact-channels", email),
        ("PATCH", &channel, json!({ "is_primary": true })),
        ("DELETE", &channel, json!({})),
        ("PATCH", "/api/v1/users/me", json!({ "totp_secret_base64": SECRET })),
        ("PATCH", "/api/v1/users/me", json!({ "totp_secret_base64": null })),
        ("PATCH", "/api/v1/users/me", json!({ "primary_email": "a@example.com" })),
        ("POST", "/api/v1/auth/password/set", json!({ "password": PASSWORD })),
        ("POST", "/api/v1/auth/password/update", update),
        ("DELETE", account, json!({})),
        ("PATCH", account, json!({ "allow_sign_in": false })),
    ];
    for (method, path, body) in &changes {
        assert_error(&own.request(method, path).json(body).send().await, 403, "REAUTHENTICATION_REQUIRED");
    }
    assert_eq!(app.table(), table);
    // Other changes, and servers, are not asked.
    assert_eq!(own.patch("/api/v1/users/me", json!({ "display_name": "Ada" })).await.status(), 200);
    let server = app.server().with("x-stack-access-token", &ada.access_token);
    assert_eq!(server.patch("/api/v1/users/me", json!({ "primary_email": "b@example.com" })).await.status(), 200);
}

#[tokio::test]
async fn a_project_that_does_not_say_so_asks_for_nothing() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_secs(599));
    assert_eq!(change(&app, &ada).await.status(), 200);
}

#[tokio::test]
async fn a_password_an_app_and_an_email_prove_the_user() {
    let app = TestApp::start().await;
    let ada = stale(&app).await;
    app.server().patch(&format!("/api/v1/users/{}", ada.user_id), json!({ "primary_email_verified": true })).await;
    app.advance(SignedDuration::from_secs(1));
    assert_error(&change(&app, &ada).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_eq!(prove(&app, &ada, json!({ "password": PASSWORD })).await.json(), json!({ "success": true }));
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(change(&app, &ada).await.status(), 200);

    // The app was set before this proof, and so is one from now on.
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(prove(&app, &ada, json!({ "password": PASSWORD })).await.status(), 200);
    app.advance(SignedDuration::from_secs(60));
    assert_error(&change(&app, &ada).await, 403, "REAUTHENTICATION_REQUIRED");
    let totp = authenticator_code(AUTHENTICATOR, app.now().as_second());
    assert_eq!(prove(&app, &ada, json!({ "totp": totp })).await.status(), 200);
    assert_error(&prove(&app, &ada, json!({ "totp": totp })).await, 400, "INVALID_TOTP_CODE");
    assert_eq!(change(&app, &ada).await.status(), 200);

    app.advance(SignedDuration::from_secs(60));
    let code = app.sign_in_code("ada@example.com").await;
    assert_eq!(prove(&app, &ada, json!({ "code": code })).await.status(), 200);
    assert_error(&prove(&app, &ada, json!({ "code": code })).await, 409, "VERIFICATION_CODE_ALREADY_USED");
    assert_eq!(change(&app, &ada).await.status(), 200);
}

#[tokio::test]
async fn a_wrong_proof_proves_nothing() {
    let app = TestApp::start().await;
    let ada = stale(&app).await;
    let bob = app.sign_in_by_mail("bob@example.com").await;
    let of_bob = app.sign_in_code("bob@example.com").await;
    assert_error(&prove(&app, &ada, json!({ "password": "the wrong battery" })).await, 400, "PASSWORD_CONFIRMATION_MISMATCH");
    assert_error(&prove(&app, &ada, json!({ "totp": "123456" })).await, 400, "INVALID_TOTP_CODE");
    assert_error(&prove(&app, &ada, json!({ "code": of_bob })).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_error(&prove(&app, &bob, json!({ "password": PASSWORD })).await, 400, "USER_DOES_NOT_HAVE_PASSWORD");
    for body in [json!({}), json!({ "password": PASSWORD, "totp": "123456" })] {
        assert_eq!(problems(&prove(&app, &ada, body).await), ["body must have one of password, totp and code"]);
    }
    assert_error(&app.client().post(PATH, json!({ "password": PASSWORD })).await, 401, "USER_AUTHENTICATION_REQUIRED");
    assert_error(&change(&app, &ada).await, 403, "REAUTHENTICATION_REQUIRED");
}

#[tokio::test]
async fn a_proof_is_of_one_session() {
    let app = TestApp::start().await;
    let (phone, laptop) = (app.sign_up("ada@example.com").await, app.sign_in("ada@example.com").await);
    configure(&app, 60).await;
    app.advance(SignedDuration::from_secs(60));
    assert_eq!(prove(&app, &phone, json!({ "password": PASSWORD })).await.status(), 200);
    assert_error(&change(&app, &laptop).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_eq!(change(&app, &phone).await.status(), 200);
    // A refresh is no proof.
    app.advance(SignedDuration::from_secs(60));
    assert_eq!(app.signed_in(&phone).post("/api/v1/auth/sessions/current/refresh", json!({})).await.status(), 200);
    assert_error(&change(&app, &phone).await, 403, "REAUTHENTICATION_REQUIRED");
}

#[tokio::test]
async fn removing_or_replacing_the_second_factor_takes_a_proof_of_the_last_minutes() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    assert_eq!(change(&app, &ada).await.status(), 200);
    configure(&app, 86_400).await;
    app.advance(SignedDuration::from_mins(5));
    let remove = json!({ "totp_secret_base64": null });
    let own = app.signed_in(&ada);
    assert_error(&own.patch("/api/v1/users/me", remove.clone()).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_error(&change(&app, &ada).await, 403, "REAUTHENTICATION_REQUIRED");
    let other = own.patch("/api/v1/users/me", json!({ "primary_email": "a@example.com" })).await;
    assert_eq!(other.status(), 200, "other changes have the day");
    assert_eq!(prove(&app, &ada, json!({ "password": PASSWORD })).await.status(), 200);
    assert_eq!(own.patch("/api/v1/users/me", remove).await.status(), 200);
}

#[tokio::test]
async fn the_setting_is_one_of_the_configuration_too() {
    let app = TestApp::start().await;
    let level = "/api/v1/internal/config/override/environment";
    let body = json!({ "config_override_string": json!({ "auth.reauthentication.maxAgeSeconds": 300 }).to_string() });
    let set = app.admin().patch(level, body).await;
    assert_eq!(set.status(), 200, "{}", set.text());
    let project = app.admin().get("/api/v1/internal/projects/current").await.json();
    assert_eq!(project["config"]["reauthentication_max_age_seconds"], 300);
    for seconds in [1, 59, 40_000_000] {
        let body = json!({ "config": { "reauthentication_max_age_seconds": seconds } });
        assert_error(&app.admin().patch("/api/v1/internal/projects/current", body).await, 400, "SCHEMA_ERROR");
    }
}
