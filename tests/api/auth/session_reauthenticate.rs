//! `POST /api/v1/auth/sessions/current/reauthenticate`, and the changes that require
//! reauthentication.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::authenticator::{Ceremony, Page, SoftPasskey};
use support::{Answer, SignedInUser, TestApp, authenticator_code};

use super::mfa_recovery_codes::codes;
use super::oauth_authorize::{self, authorize, parameters_with};
use super::{assert_error, problems};

const PATH: &str = "/api/v1/auth/sessions/current/reauthenticate";
const PASSWORD: &str = "correct horse battery";
const AUTHENTICATOR: &[u8] = b"12345678901234567890";
const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=";

async fn configure(app: &TestApp, seconds: u32) {
    app.configure(json!({ "config": { "reauthentication_max_age_seconds": seconds } })).await;
}

async fn prove(app: &TestApp, user: &SignedInUser, body: Value) -> Answer {
    app.signed_in(user).post(PATH, body).await
}

/// Sets up an authenticator app, as an example of a change that requires recent authentication.
async fn change(app: &TestApp, user: &SignedInUser) -> Answer {
    app.signed_in(user).patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await
}

/// A user whose session is too old for changes of credentials in the project.
async fn stale(app: &TestApp) -> SignedInUser {
    let ada = app.sign_up("ada@example.com").await;
    make_stale(app).await;
    ada
}

async fn make_stale(app: &TestApp) {
    configure(app, 60).await;
    app.advance(SignedDuration::from_secs(60));
}

#[tokio::test]
async fn every_credential_change_requires_recent_authentication() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    app.add_passkey(&ada, 1).await;
    make_stale(&app).await;
    let own = app.signed_in(&ada);
    let passkeys = own.get("/api/v1/passkeys?user_id=me").await.json();
    let passkey = format!("/api/v1/passkeys/me/{}", passkeys["items"][0]["id"].as_str().unwrap());
    let list = own.get("/api/v1/contact-channels?user_id=me").await.json();
    let channel = format!("/api/v1/contact-channels/me/{}", list["items"][0]["id"].as_str().unwrap());
    let email = json!({ "user_id": "me", "value": "a@example.com", "type": "email", "used_for_auth": true });
    let update = json!({ "old_password": PASSWORD, "new_password": "a better horse battery" });
    let account = "/api/v1/oauth-providers/me/8c4e2b7a-6d1f-4e3c-9a5b-2d8f7c6e1b90";
    let authenticator = "/api/v1/auth/mfa/authenticators/5b8e0c6a-3d1f-4e2b-9a7c-6f0d1e2b3c4d";
    let table = app.table();
    let changes = [
        ("POST", "/api/v1/contact-channels", email),
        ("PATCH", &channel, json!({ "is_primary": true })),
        ("DELETE", &channel, json!({})),
        ("PATCH", "/api/v1/users/me", json!({ "totp_secret_base64": SECRET })),
        ("PATCH", "/api/v1/users/me", json!({ "totp_secret_base64": null })),
        ("PATCH", "/api/v1/users/me", json!({ "primary_email": "a@example.com" })),
        ("PATCH", "/api/v1/users/me", json!({ "passkey_auth_enabled": false })),
        ("PATCH", "/api/v1/users/me", json!({ "otp_auth_enabled": false })),
        ("PATCH", "/api/v1/users/me", json!({ "otp_auth_enabled": true })),
        ("DELETE", &passkey, json!({})),
        ("POST", "/api/v1/auth/passkey/initiate-passkey-registration", json!({})),
        ("POST", "/api/v1/auth/mfa/recovery-codes", json!({})),
        ("POST", "/api/v1/auth/mfa/authenticators", json!({})),
        ("POST", "/api/v1/auth/mfa/authenticators/verify", json!({ "code": "a".repeat(45), "totp": "000000" })),
        ("DELETE", authenticator, json!({})),
        ("POST", "/api/v1/auth/password/set", json!({ "password": PASSWORD })),
        ("POST", "/api/v1/auth/password/update", update),
        ("DELETE", account, json!({})),
        ("PATCH", account, json!({ "allow_sign_in": false })),
    ];
    for (method, path, body) in &changes {
        assert_error(&own.request(method, path).json(body).send().await, 403, "REAUTHENTICATION_REQUIRED");
    }
    assert_eq!(app.table(), table);
    // Other changes do not require recent authentication, and neither do changes by servers.
    assert_eq!(own.patch("/api/v1/users/me", json!({ "display_name": "Ada" })).await.status(), 200);
    let server = app.server().with("x-stack-access-token", &ada.access_token);
    assert_eq!(server.patch("/api/v1/users/me", json!({ "primary_email": "b@example.com" })).await.status(), 200);
}

#[tokio::test]
async fn completing_a_registration_or_starting_a_link_requires_recent_authentication() {
    let app = oauth_authorize::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    let Ceremony { options, code } = app.start_registration(&ada).await;
    let credential = SoftPasskey::create(&options, Page::default(), 1).registration(&options);
    make_stale(&app).await;
    let link = parameters_with(&app, &[("type", "link"), ("token", &ada.access_token)]);
    let table = app.table();
    assert_error(&app.register(&ada, &code, &credential).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_error(&authorize(&app, "github", &link).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_eq!(app.table(), table);
    assert_eq!(prove(&app, &ada, json!({ "password": PASSWORD })).await.status(), 200);
    assert_eq!(app.register(&ada, &code, &credential).await.status(), 200);
    assert_eq!(authorize(&app, "github", &link).await.status(), 307);
}

#[tokio::test]
async fn reauthentication_is_opt_in_per_project() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_secs(599));
    assert_eq!(change(&app, &ada).await.status(), 200);
}

#[tokio::test]
async fn a_password_an_app_and_an_email_reauthenticate() {
    let app = TestApp::start().await;
    let ada = stale(&app).await;
    app.server().patch(&format!("/api/v1/users/{}", ada.user_id), json!({ "primary_email_verified": true })).await;
    app.advance(SignedDuration::from_secs(1));
    assert_error(&change(&app, &ada).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_eq!(prove(&app, &ada, json!({ "password": PASSWORD })).await.json(), json!({ "success": true }));
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(change(&app, &ada).await.status(), 200);

    // The app was set up before this reauthentication, so it can be used for the next
    // reauthentication.
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
async fn a_recovery_code_reauthenticates_once_and_not_right_after_it_was_made() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    assert_eq!(change(&app, &ada).await.status(), 200);
    app.advance(SignedDuration::from_secs(1));
    let codes = codes(&app, &ada).await;
    configure(&app, 60).await;
    // Someone who stole the session could have created these codes.
    assert_error(&prove(&app, &ada, json!({ "recovery_code": codes[0] })).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_error(&prove(&app, &ada, json!({ "totp": codes[0] })).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_eq!(prove(&app, &ada, json!({ "password": PASSWORD })).await.status(), 200);

    for (field, wrong, error) in [("recovery_code", "AAAAAA", "INVALID_RECOVERY_CODE"), ("totp", "AAAAAA", "INVALID_TOTP_CODE")] {
        let code = if field == "totp" { &codes[1] } else { &codes[2] };
        app.advance(SignedDuration::from_secs(60));
        assert_error(&prove(&app, &ada, json!({ field: wrong })).await, 400, error);
        assert_error(&change(&app, &ada).await, 403, "REAUTHENTICATION_REQUIRED");
        assert_eq!(prove(&app, &ada, json!({ field: code.to_lowercase() })).await.json(), json!({ "success": true }));
        assert_error(&prove(&app, &ada, json!({ field: code })).await, 400, error);
        let name = app.signed_in(&ada).patch("/api/v1/users/me", json!({ "primary_email": "a@example.com" })).await;
        assert_eq!(name.status(), 200, "{}", name.text());
    }
    let left = app.signed_in(&ada).get("/api/v1/auth/mfa/recovery-codes").await.json();
    assert_eq!(left["remaining"], 8);
    assert_error(&prove(&app, &ada, json!({ "recovery_code": codes[3], "totp": "123456" })).await, 400, "SCHEMA_ERROR");
    // Another user's recovery code is rejected.
    let eve = app.sign_in_by_mail("eve@example.com").await;
    assert_error(&prove(&app, &eve, json!({ "recovery_code": codes[3] })).await, 400, "INVALID_RECOVERY_CODE");
}

#[tokio::test]
async fn a_wrong_proof_does_not_reauthenticate() {
    let app = TestApp::start().await;
    let ada = stale(&app).await;
    let bob = app.sign_in_by_mail("bob@example.com").await;
    let of_bob = app.sign_in_code("bob@example.com").await;
    assert_error(&prove(&app, &ada, json!({ "password": "the wrong battery" })).await, 400, "PASSWORD_CONFIRMATION_MISMATCH");
    assert_error(&prove(&app, &ada, json!({ "totp": "123456" })).await, 400, "INVALID_TOTP_CODE");
    assert_error(&prove(&app, &ada, json!({ "code": of_bob })).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_error(&prove(&app, &bob, json!({ "password": PASSWORD })).await, 400, "USER_DOES_NOT_HAVE_PASSWORD");
    for body in [json!({}), json!({ "password": PASSWORD, "totp": "123456" })] {
        assert_eq!(
            problems(&prove(&app, &ada, body).await),
            ["body must have exactly one of password, totp, recovery_code, code and passkey"]
        );
    }
    assert_error(&app.client().post(PATH, json!({ "password": PASSWORD })).await, 401, "USER_AUTHENTICATION_REQUIRED");
    assert_error(&change(&app, &ada).await, 403, "REAUTHENTICATION_REQUIRED");
}

#[tokio::test]
async fn reauthentication_applies_to_one_session() {
    let app = TestApp::start().await;
    let (phone, laptop) = (app.sign_up("ada@example.com").await, app.sign_in("ada@example.com").await);
    configure(&app, 60).await;
    app.advance(SignedDuration::from_secs(60));
    assert_eq!(prove(&app, &phone, json!({ "password": PASSWORD })).await.status(), 200);
    assert_error(&change(&app, &laptop).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_eq!(change(&app, &phone).await.status(), 200);
    // A refresh does not count as authentication.
    app.advance(SignedDuration::from_secs(60));
    assert_eq!(app.signed_in(&phone).post("/api/v1/auth/sessions/current/refresh", json!({})).await.status(), 200);
    assert_error(&change(&app, &phone).await, 403, "REAUTHENTICATION_REQUIRED");
}

#[tokio::test]
async fn changing_the_second_factor_requires_recent_authentication() {
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
    assert_eq!(other.status(), 200, "this change requires no authentication within five minutes");
    assert_eq!(prove(&app, &ada, json!({ "password": PASSWORD })).await.status(), 200);
    assert_eq!(own.patch("/api/v1/users/me", remove).await.status(), 200);
}

#[tokio::test]
async fn the_setting_is_also_a_configuration_key() {
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
