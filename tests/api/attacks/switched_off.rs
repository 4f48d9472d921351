//! Sign-in by email for users who have disabled it.

use serde_json::json;
use support::{SignedInUser, TestApp};

use super::{NEW, change, otp_sign_in, password_sign_in, reset, reset_code, user};
use crate::auth::assert_error;

const SEND: &str = "/api/v1/auth/otp/send-sign-in-code";

#[tokio::test]
async fn no_code_signs_in_a_user_who_disabled_sign_in_by_email() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    change(&app, &ada.user_id, json!({ "password": NEW })).await;
    let ada = SignedInUser::of("ada@example.com", &password_sign_in(&app, "ada@example.com", NEW).await.json());
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

#[tokio::test]
async fn a_client_cannot_disable_the_last_way_to_sign_in() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let own = app.signed_in(&ada);
    let list = own.get("/api/v1/contact-channels?user_id=me").await.json();
    let channel = format!("/api/v1/contact-channels/me/{}", list["items"][0]["id"].as_str().unwrap());
    let (me, off) = ("/api/v1/users/me", json!({ "otp_auth_enabled": false }));
    let unused = json!({ "used_for_auth": false });
    let table = app.table();
    for (path, body) in [(me, &off), (&channel, &unused)] {
        assert_error(&own.patch(path, body.clone()).await, 409, "LAST_SIGN_IN_METHOD");
    }
    assert_eq!(app.table(), table);

    // The password counts as another way to sign in only as long as its address can be used for
    // signing in.
    assert_eq!(own.post("/api/v1/auth/password/set", json!({ "password": NEW })).await.status(), 200);
    assert_eq!(own.patch(me, off).await.status(), 200);
    assert_error(&own.patch(&channel, unused.clone()).await, 409, "LAST_SIGN_IN_METHOD");
    // A server can also add another way to sign in.
    assert_eq!(app.server().patch(&channel.replace("me", &ada.user_id), unused).await.status(), 200);
}

#[tokio::test]
async fn a_client_cannot_remove_the_last_passkeys_of_an_account_without_another_way() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    let passkey = app.add_passkey(&ada, 1).await;
    change(&app, &ada.user_id, json!({ "password": null, "otp_auth_enabled": false })).await;
    let ada = SignedInUser::of("ada@example.com", &app.sign_in_with(&passkey).await.json());
    let (own, none) = (app.signed_in(&ada), json!({ "passkey_auth_enabled": false }));
    assert_error(&own.patch("/api/v1/users/me", none.clone()).await, 409, "LAST_SIGN_IN_METHOD");
    assert_eq!(own.post("/api/v1/auth/password/set", json!({ "password": NEW })).await.status(), 200);
    assert_eq!(own.patch("/api/v1/users/me", none).await.status(), 200);
}
