//! Anonymous users create nothing permanent, unless the project permits it.

use serde_json::{Value, json};
use support::{Caller, SignedInUser, TestApp};

use crate::auth::assert_error;

const KEYS: &str = "/api/v1/user-api-keys";

async fn world() -> (TestApp, Caller) {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    app.configure(json!({ "config": { "client_team_creation_enabled": true, "allow_user_api_keys": true } })).await;
    let nobody = SignedInUser::of("", &app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json());
    let caller = app.signed_in(&nobody).with("x-stack-allow-anonymous-user", "true");
    (app, caller)
}

/// Requests by clients to create something, each with the status of a successful response.
fn requests() -> Vec<(&'static str, &'static str, Value, u16)> {
    let channel = json!({ "user_id": "me", "value": "eve@example.com", "type": "email", "used_for_auth": false });
    let key = json!({ "user_id": "me", "description": "CI", "expires_at_millis": null });
    vec![
        ("POST", "/api/v1/teams", json!({ "display_name": "Engines" }), 201),
        ("POST", "/api/v1/contact-channels", channel, 201),
        ("PATCH", "/api/v1/users/me", json!({ "primary_email": "mallory@example.com" }), 200),
        ("PATCH", "/api/v1/users/me", json!({ "profile_image_url": "data:image/png;base64,iVBORw0KGgo=" }), 200),
        ("PATCH", "/api/v1/users/me", json!({ "totp_secret_base64": "MDEyMzQ1Njc4OTAxMjM0NTY3ODk=" }), 200),
        ("POST", "/api/v1/auth/passkey/initiate-passkey-registration", json!({}), 200),
        ("POST", KEYS, key, 200),
    ]
}

#[tokio::test]
async fn an_anonymous_user_creates_nothing_that_stays() {
    let (app, caller) = world().await;
    let before = app.table();
    let begin = ("POST", "/api/v1/auth/mfa/authenticators", json!({}), 201);
    for (method, path, body, _) in requests().into_iter().chain([begin]) {
        let answer = caller.request(method, path).json(&body).send().await;
        assert_error(&answer, 401, "ANONYMOUS_AUTHENTICATION_NOT_ALLOWED");
    }
    let after = app.table();
    let added: Vec<_> = after.keys().filter(|key| !before.contains_key(*key)).collect();
    assert!(added.is_empty(), "{added:?}");
    // Anonymous users can make other changes.
    assert_eq!(caller.patch("/api/v1/users/me", json!({ "display_name": "Somebody" })).await.status(), 200);
}

#[tokio::test]
async fn an_anonymous_user_creates_what_the_project_permits() {
    let (app, caller) = world().await;
    app.configure(json!({ "config": { "anonymous_creation_enabled": true, "max_teams_per_user": 1 } })).await;
    for (method, path, body, status) in requests() {
        let answer = caller.request(method, path).json(&body).send().await;
        assert_eq!(answer.status(), status, "{path}: {}", answer.text());
    }
    assert_error(&caller.post("/api/v1/teams", json!({ "display_name": "One more" })).await, 400, "TOO_MANY_TEAMS");
}

#[tokio::test]
async fn a_personal_team_of_an_anonymous_user_is_the_project_s_wish() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "create_team_on_sign_up": true } })).await;
    let nobody = SignedInUser::of("", &app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json());
    let caller = app.signed_in(&nobody).with("x-stack-allow-anonymous-user", "true");
    assert!(caller.get("/api/v1/users/me").await.json()["selected_team_id"].is_string());
}
