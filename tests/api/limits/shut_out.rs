//! An intruder in one session cannot use up the limit of the operations that end this session.

use model::limit::{Limits, Rate, Rule};
use serde_json::json;
use support::TestApp;

use super::*;

const ME: &str = "/api/v1/users/me";
const SESSIONS: &str = "/api/v1/auth/sessions";
const OTHER: &str = "/api/v1/auth/sessions/018f0b6c-1e2f-7b4d-8a34-5b9f0c6d7e81?user_id=me";

#[tokio::test]
async fn a_session_can_shut_somebody_out_60_times_in_10_minutes() {
    let app = TestApp::start_with(Limits::off().with(Rule::SecureAccount, Some(Rule::SecureAccount.standard()))).await;
    let ada = app.sign_up("ada@example.com").await;
    let client = app.signed_in(&ada);
    let (let_through, refused) = exhaust(|_| client.delete(OTHER)).await;
    assert_eq!(let_through, 60);
    assert_refused(&refused, "secure-account", Rate::new(60, 600));
    let again = app.sign_in("ada@example.com").await;
    assert_eq!(app.signed_in(&again).delete(OTHER).await.code(), "SESSION_NOT_FOUND");
}

#[tokio::test]
async fn a_flood_from_a_session_does_not_keep_the_owner_from_ending_it() {
    let limits = [Rule::SecureAccount, Rule::Write, Rule::WriteServer];
    let app = TestApp::start_with(limits.into_iter().fold(Limits::off(), |all, rule| all.with(rule, Some(Rate::new(5, 600))))).await;
    app.configure(json!({ "config": { "passkey_enabled": true, "allow_user_api_keys": true } })).await;
    let ada = app.sign_up("ada@example.com").await;
    app.add_passkey(&ada, 1).await;
    let own = app.signed_in(&ada).with("x-stack-refresh-token", &ada.refresh_token);
    let key = json!({ "user_id": "me", "description": "CI", "expires_at_millis": null });
    let key = own.post("/api/v1/user-api-keys", key).await.json()["id"].as_str().unwrap().to_owned();
    let passkeys = own.get("/api/v1/passkeys?user_id=me").await.json();
    let passkey = format!("/api/v1/passkeys/me/{}", passkeys["items"][0]["id"].as_str().unwrap());

    let eve = app.signed_in(&app.sign_in("ada@example.com").await);
    let flood = async || {
        for _ in 0..10 {
            eve.patch(ME, json!({})).await;
            eve.delete(OTHER).await;
        }
    };
    flood().await;
    assert!(is_refused(&eve.patch(ME, json!({})).await) && is_refused(&eve.delete(OTHER).await));
    assert!(is_refused(&own.patch(ME, json!({})).await), "what shuts nobody out is counted by user");

    assert_eq!(own.delete(SESSIONS).await.status(), 200);
    assert_eq!(eve.get(ME).await.code(), "ACCESS_TOKEN_EXPIRED");
    // The token of a session that has ended is still counted, but only against the limit of this
    // session.
    app.advance(SignedDuration::from_mins(5));
    flood().await;
    let change = json!({ "old_password": "correct horse battery", "new_password": "a better horse battery" });
    assert_eq!(own.post("/api/v1/auth/password/update", change).await.status(), 200);
    assert_eq!(own.delete(&passkey).await.status(), 200);
    assert_eq!(own.patch(&format!("/api/v1/user-api-keys/{key}"), json!({ "revoked": true })).await.status(), 200);
    assert_eq!(own.delete("/api/v1/auth/sessions/current").await.status(), 200);
}
