//! Users whom an administrator has restricted, with tests about the claims of their tokens and
//! about what they may do.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use support::{SignedInUser, TestApp};

use super::{ME, assert_error, read, refresh, update};

fn claims(token: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap()).unwrap()
}

/// The user with a new access token.
async fn refreshed(app: &TestApp, user: &SignedInUser) -> SignedInUser {
    let answer = refresh(app, user).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    SignedInUser { access_token: answer.json()["access_token"].as_str().unwrap().to_owned(), ..user.clone() }
}

#[tokio::test]
async fn a_restricted_user_keeps_the_session_and_gets_a_restricted_token() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let body = json!({ "restricted_by_admin": true, "restricted_by_admin_reason": "unpaid", "restricted_by_admin_private_details": "7" });
    let user = update(&app, &ada.user_id, body).await;
    assert_eq!((&user["is_restricted"], &user["restricted_by_admin_reason"]), (&json!(true), &json!("unpaid")));
    assert_eq!(user["restricted_by_admin_private_details"], "7");

    let ada = refreshed(&app, &ada).await;
    let claims = claims(&ada.access_token);
    assert_eq!((&claims["is_restricted"], &claims["is_anonymous"]), (&json!(true), &json!(false)));
    assert_eq!(claims["restricted_reason"], json!({ "type": "restricted_by_administrator" }));
    assert!(claims["aud"].as_str().unwrap().ends_with(":restricted"));
    assert!(claims["iss"].as_str().unwrap().contains("/projects-restricted-users/"));

    let details = assert_error(&app.signed_in(&ada).get(ME).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    assert_eq!(details, json!({ "restricted_reason": { "type": "restricted_by_administrator" } }));
    for header in ["x-stack-allow-restricted-user", "x-stack-allow-anonymous-user"] {
        let me = app.signed_in(&ada).with(header, "true").get(ME).await;
        assert_eq!((me.status(), &me.json()["restricted_by_admin_reason"]), (200, &json!("unpaid")));
        assert!(!me.text().contains("private_details"));
    }
    assert_error(&app.signed_in(&ada).with("x-stack-allow-restricted-user", "yes").get(ME).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
}

#[tokio::test]
async fn a_lifted_restriction_applies_to_the_next_token() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    update(&app, &ada.user_id, json!({ "restricted_by_admin": true, "restricted_by_admin_reason": "unpaid" })).await;
    let restricted = refreshed(&app, &ada).await;
    assert_error(&app.signed_in(&restricted).get(ME).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    let user = update(&app, &ada.user_id, json!({ "restricted_by_admin": false })).await;
    assert_eq!((&user["is_restricted"], &user["restricted_by_admin_reason"]), (&json!(false), &Value::Null));
    let free = refreshed(&app, &ada).await;
    assert_eq!(claims(&free.access_token)["restricted_reason"], Value::Null);
    assert_eq!(app.signed_in(&free).get(ME).await.status(), 200);
}

#[tokio::test]
async fn a_restricted_user_cannot_lift_its_own_restriction() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    update(&app, &ada.user_id, json!({ "restricted_by_admin": true })).await;
    let caller = app.signed_in(&refreshed(&app, &ada).await).with("x-stack-allow-restricted-user", "true");
    assert_error(&caller.patch(ME, json!({ "restricted_by_admin": false })).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    assert_eq!(read(&app, &ada.user_id).await["restricted_by_admin"], true);
}

#[tokio::test]
async fn a_restricted_user_can_sign_out_but_change_nothing() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    update(&app, &ada.user_id, json!({ "restricted_by_admin": true })).await;
    for token in [&ada, &refreshed(&app, &ada).await] {
        for header in ["x-stack-allow-restricted-user", "x-stack-allow-anonymous-user"] {
            let caller = app.signed_in(token).with(header, "true");
            let details = assert_error(&caller.patch(ME, json!({ "display_name": "Eve" })).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
            assert_eq!(details, json!({ "restricted_reason": { "type": "restricted_by_administrator" } }));
            let channel = json!({ "user_id": "me", "type": "email", "value": "eve@example.com", "used_for_auth": true });
            assert_error(&caller.post("/api/v1/contact-channels", channel).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
        }
    }
    assert_eq!(read(&app, &ada.user_id).await["display_name"], Value::Null);
    // If there is a second reason for the restriction, the user may not write either.
    app.configure(json!({ "config": { "require_email_verification": true } })).await;
    let caller = app.signed_in(&ada).with("x-stack-allow-anonymous-user", "true");
    assert_error(&caller.patch(ME, json!({ "display_name": "Eve" })).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    assert_eq!(caller.delete("/api/v1/auth/sessions/current").await.status(), 200);
}

#[tokio::test]
async fn a_new_sign_in_of_a_restricted_user_is_restricted_too() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    update(&app, &ada.user_id, json!({ "restricted_by_admin": true })).await;
    let again = app.sign_in("ada@example.com").await;
    assert_error(&app.signed_in(&again).get(ME).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    assert_eq!(app.server().with("x-stack-access-token", &again.access_token).get(ME).await.code(), "RESTRICTED_USER_NOT_ALLOWED");
}
