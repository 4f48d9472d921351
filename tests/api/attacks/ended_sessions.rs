//! Access tokens whose session has ended, or whose user has since been restricted or deleted.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{Answer, Caller, SignedInUser, TestApp};

use crate::auth::assert_error;
use crate::stored;

const NEW: &str = "a better horse battery";

/// Requests that read and change the account of their user.
fn changes(channel: &str) -> Vec<(&'static str, String, Value)> {
    let email = json!({ "user_id": "me", "value": "eve@example.com", "type": "email", "used_for_auth": true });
    let callback = json!({ "callback_url": "http://localhost:3000/x" });
    let own = format!("/api/v1/contact-channels/me/{channel}");
    vec![
        ("POST", "/api/v1/contact-channels".to_owned(), email),
        ("PATCH", own.clone(), json!({ "value": "eve@example.com" })),
        ("DELETE", own.clone(), json!({})),
        ("POST", format!("{own}/send-verification-code"), callback),
        ("PATCH", "/api/v1/users/me".to_owned(), json!({ "totp_secret_base64": null })),
        ("PATCH", "/api/v1/users/me".to_owned(), json!({ "primary_email": "eve@example.com" })),
        ("POST", "/api/v1/auth/mfa/recovery-codes".to_owned(), json!({})),
        ("GET", "/api/v1/auth/mfa/recovery-codes".to_owned(), json!({})),
        ("POST", "/api/v1/auth/password/set".to_owned(), json!({ "password": NEW })),
        ("POST", "/api/v1/auth/password/update".to_owned(), json!({ "old_password": "correct horse battery", "new_password": NEW })),
        ("DELETE", "/api/v1/oauth-providers/me/8c4e2b7a-6d1f-4e3c-9a5b-2d8f7c6e1b90".to_owned(), json!({})),
        ("GET", "/api/v1/users/me".to_owned(), json!({})),
        ("GET", "/api/v1/auth/sessions".to_owned(), json!({})),
        ("DELETE", "/api/v1/auth/sessions/current".to_owned(), json!({})),
        ("DELETE", "/api/v1/users/me".to_owned(), json!({})),
    ]
}

async fn send(caller: &Caller, (method, path, body): &(&str, String, Value)) -> Answer {
    let request = caller.request(method, path);
    if *method == "GET" { request.send().await } else { request.json(body).send().await }
}

async fn channel_of(app: &TestApp, user: &SignedInUser) -> String {
    let list = app.server().get(&format!("/api/v1/contact-channels?user_id={}", user.user_id)).await.json();
    list["items"][0]["id"].as_str().unwrap().to_owned()
}

/// The ways to end a session.
const ENDS: [&str; 7] =
    ["signed out", "ended by the server", "password updated", "password set by the server", "reset", "expired", "deleted"];

/// A user whose session ended in this way while the access token has not expired, and the id of the
/// user's contact channel.
async fn ended(app: &TestApp, end: &str) -> (SignedInUser, String) {
    let ada = app.sign_up("ada@example.com").await;
    let channel = channel_of(app, &ada).await;
    let user = format!("/api/v1/users/{}", ada.user_id);
    let mut victim = ada.clone();
    let done = match end {
        "signed out" => app.signed_in(&ada).delete("/api/v1/auth/sessions/current").await,
        "ended by the server" => {
            let sessions = app.signed_in(&ada).get("/api/v1/auth/sessions").await.json();
            app.server().delete(&format!("/api/v1/auth/sessions/{}", sessions["items"][0]["id"].as_str().unwrap())).await
        }
        "password updated" => {
            let other = app.sign_in("ada@example.com").await;
            let body = json!({ "old_password": "correct horse battery", "new_password": NEW });
            app.signed_in(&other).post("/api/v1/auth/password/update", body).await
        }
        "password set by the server" => app.server().patch(&user, json!({ "password": NEW })).await,
        "reset" => {
            let body = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x" });
            assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", body).await.status(), 200);
            let code = app.last_mail("ada@example.com").await.code();
            app.client().post("/api/v1/auth/password/reset", json!({ "code": code, "password": NEW })).await
        }
        "expired" => {
            let begun = app.server().post("/api/v1/auth/sessions", json!({ "user_id": ada.user_id, "expires_in_millis": 60_000 })).await;
            let token = |name: &str| begun.json()[name].as_str().unwrap().to_owned();
            victim = SignedInUser { access_token: token("access_token"), refresh_token: token("refresh_token"), ..ada };
            app.advance(SignedDuration::from_secs(60));
            begun
        }
        _ => app.server().delete(&user).await,
    };
    assert_eq!(done.status(), 200, "{end}: {}", done.text());
    (victim, channel)
}

#[tokio::test]
async fn an_access_token_of_an_ended_session_is_rejected() {
    for end in ENDS {
        let app = TestApp::start().await;
        app.configure(json!({ "config": { "client_user_deletion_enabled": true } })).await;
        let (ada, channel) = ended(&app, end).await;
        let table = app.table();
        for change in changes(&channel) {
            for caller in [app.signed_in(&ada), app.server().with("x-stack-access-token", &ada.access_token)] {
                let details = assert_error(&send(&caller, &change).await, 401, "ACCESS_TOKEN_EXPIRED");
                assert_eq!((&details["user_id"], &details["expired_at_millis"]), (&json!(ada.user_id), &Value::Null), "{end}: {change:?}");
            }
        }
        assert_eq!(app.table(), table, "{end}");
    }
}

#[tokio::test]
async fn a_refresh_token_of_an_ended_session_is_rejected() {
    for end in ENDS {
        let app = TestApp::start().await;
        let (ada, _) = ended(&app, end).await;
        let refresh = app.signed_in(&ada).without("x-stack-access-token").post("/api/v1/auth/sessions/current/refresh", json!({})).await;
        assert_error(&refresh, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    }
}

#[tokio::test]
async fn a_user_restricted_by_an_administrator_cannot_write_from_then_on() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "client_user_deletion_enabled": true } })).await;
    let ada = app.sign_up("ada@example.com").await;
    let channel = channel_of(&app, &ada).await;
    let user = format!("/api/v1/users/{}", ada.user_id);
    assert_eq!(app.server().patch(&user, json!({ "restricted_by_admin": true })).await.status(), 200);
    let table = app.table();
    for change in changes(&channel) {
        assert_error(&send(&app.signed_in(&ada), &change).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    }
    assert_eq!(app.table(), table);
    // The token works again once the restriction is lifted.
    assert_eq!(app.server().patch(&user, json!({ "restricted_by_admin": false })).await.status(), 200);
    assert_eq!(app.signed_in(&ada).get("/api/v1/users/me").await.status(), 200);
}

#[tokio::test]
async fn the_claims_about_restrictions_and_anonymity_are_not_trusted() {
    let app = TestApp::start().await;
    let visitor = stored::anonymous_user(&app).await;
    assert_error(&app.signed_in(&visitor).get("/api/v1/users/me").await, 401, "ANONYMOUS_AUTHENTICATION_NOT_ALLOWED");
    // The anonymous user signs up, so the older token now belongs to an ordinary user.
    stored::change_user(&app, &visitor, |user| user.is_anonymous = false).await;
    assert_eq!(app.signed_in(&visitor).get("/api/v1/users/me").await.status(), 200);
    app.configure(json!({ "config": { "require_email_verification": true } })).await;
    let details = assert_error(&app.signed_in(&visitor).get("/api/v1/users/me").await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    assert_eq!(details, json!({ "restricted_reason": { "type": "email_not_verified" } }));
}

#[tokio::test]
async fn authentication_still_takes_one_round_trip() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.recorder.clear();
    assert_eq!(app.signed_in(&ada).get("/api/v1/users/me").await.status(), 200);
    let calls: Vec<String> = app.recorder.calls().into_iter().map(|(operation, _)| operation).collect();
    assert_eq!(calls.len(), 1, "{calls:?}");
}
