//! Sign-in by email for a user who has disabled it.

use serde_json::json;
use support::TestApp;

use super::{NEW, change, otp_sign_in, password_sign_in, reset, reset_code, user};
use crate::auth::assert_error;

const SEND: &str = "/api/v1/auth/otp/send-sign-in-code";

#[tokio::test]
async fn no_code_signs_in_a_user_who_disabled_sign_in_by_email() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let earlier = app.sign_in_code("ada@example.com").await;
    let off = app.signed_in(&ada).patch("/api/v1/users/me", json!({ "otp_auth_enabled": false })).await;
    assert_eq!((off.status(), &off.json()["otp_auth_enabled"]), (200, &json!(false)));
    let send = app.client().post(SEND, json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x" })).await;
    assert_error(&send, 403, "MAGIC_LINK_NOT_ENABLED");
    assert_error(&otp_sign_in(&app, &earlier).await, 403, "MAGIC_LINK_NOT_ENABLED");
    assert_eq!(user(&app, &ada.user_id).await["otp_auth_enabled"], false);

    change(&app, &ada.user_id, json!({ "otp_auth_enabled": true })).await;
    assert_eq!(app.sign_in_by_mail("ada@example.com").await.user_id, ada.user_id);
}

#[tokio::test]
async fn a_reset_does_not_enable_sign_in_by_email_again() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    change(&app, &ada.user_id, json!({ "otp_auth_enabled": false })).await;
    assert_eq!(reset(&app, &reset_code(&app, "ada@example.com").await).await.status(), 200);
    assert_eq!(password_sign_in(&app, "ada@example.com", NEW).await.status(), 200);
    assert_eq!(user(&app, &ada.user_id).await["otp_auth_enabled"], false);
    let send = app.client().post(SEND, json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x" })).await;
    assert_error(&send, 403, "MAGIC_LINK_NOT_ENABLED");
}

#[tokio::test]
async fn sign_in_by_email_is_enabled_by_default() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    change(&app, &ada.user_id, json!({ "primary_email_verified": true })).await;
    assert_eq!(user(&app, &ada.user_id).await["otp_auth_enabled"], false);
    assert_eq!(app.sign_in_by_mail("ada@example.com").await.user_id, ada.user_id);
    assert_eq!(user(&app, &ada.user_id).await["otp_auth_enabled"], true);
}
