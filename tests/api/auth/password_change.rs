//! A signed-in user sets or changes the password.

use serde_json::json;
use support::TestApp;

const SET: &str = "/api/v1/auth/password/set";
const UPDATE: &str = "/api/v1/auth/password/update";
const REFRESH: &str = "/api/v1/auth/sessions/current/refresh";
const NEW: &str = "a better horse battery";

#[tokio::test]
async fn setting_a_first_password_keeps_the_session() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let set = app.signed_in(&ada).post(SET, json!({ "password": "correct horse battery" })).await;
    assert_eq!((set.status(), set.json()), (200, json!({ "success": true })));
    app.sign_in("ada@example.com").await;
    assert_eq!(app.signed_in(&ada).post(REFRESH, json!({})).await.status(), 200);
    let again = app.signed_in(&ada).post(SET, json!({ "password": "correct horse battery" })).await;
    assert_eq!((again.status(), again.code().as_str()), (400, "USER_HAS_PASSWORD"));
}

#[tokio::test]
async fn a_password_change_ends_the_other_sessions() {
    let app = TestApp::start().await;
    let (ada, other) = (app.sign_up("ada@example.com").await, app.sign_in("ada@example.com").await);
    let body = json!({ "old_password": "correct horse battery", "new_password": NEW });
    let updated = app.signed_in(&ada).post(UPDATE, body.clone()).await;
    assert_eq!((updated.status(), updated.json()), (200, json!({ "success": true })));
    assert_eq!(app.signed_in(&ada).post(REFRESH, json!({})).await.status(), 200);
    assert_eq!(app.signed_in(&other).post(REFRESH, json!({})).await.code(), "ACCESS_TOKEN_EXPIRED");
    let refreshed = app.signed_in(&other).without("x-stack-access-token").post(REFRESH, json!({})).await;
    assert_eq!(refreshed.code(), "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    assert_eq!(app.signed_in(&ada).post(UPDATE, body).await.code(), "PASSWORD_CONFIRMATION_MISMATCH");
    let sessions = app.signed_in(&ada).get("/api/v1/auth/sessions").await.json();
    assert_eq!(sessions["items"].as_array().map(Vec::len), Some(1), "{sessions}");
}

#[tokio::test]
async fn a_password_change_without_the_refresh_token_ends_all_sessions() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let body = json!({ "old_password": "correct horse battery", "new_password": NEW });
    let updated = app.signed_in(&ada).without("x-stack-refresh-token").post(UPDATE, body).await;
    assert_eq!(updated.status(), 200);
    let refreshed = app.signed_in(&ada).without("x-stack-access-token").post(REFRESH, json!({})).await;
    assert_eq!(refreshed.code(), "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test]
async fn an_invalid_password_change_is_explained() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_in_by_mail("bob@example.com").await);
    let update = |old: &str, new: &str| json!({ "old_password": old, "new_password": new });
    let answers = [
        (app.client().post(SET, json!({ "password": NEW })).await, "USER_AUTHENTICATION_REQUIRED"),
        (app.client().post(UPDATE, update("x", NEW)).await, "USER_AUTHENTICATION_REQUIRED"),
        (app.signed_in(&bob).post(SET, json!({ "password": "seven77" })).await, "PASSWORD_TOO_SHORT"),
        (app.signed_in(&bob).post(SET, json!({ "password": "x".repeat(129) })).await, "PASSWORD_TOO_LONG"),
        (app.signed_in(&bob).post(UPDATE, update("x", NEW)).await, "USER_DOES_NOT_HAVE_PASSWORD"),
        (app.signed_in(&ada).post(UPDATE, update("wrong", NEW)).await, "PASSWORD_CONFIRMATION_MISMATCH"),
        (app.signed_in(&ada).post(UPDATE, update("correct horse battery", "seven77")).await, "PASSWORD_TOO_SHORT"),
        (app.signed_in(&ada).post(UPDATE, update("correct horse battery", &"x".repeat(129))).await, "PASSWORD_TOO_LONG"),
    ];
    for (answer, code) in answers {
        assert_eq!(answer.code(), code);
    }
    app.configure(json!({ "config": { "credential_enabled": false } })).await;
    assert_eq!(app.signed_in(&bob).post(SET, json!({ "password": NEW })).await.code(), "PASSWORD_AUTHENTICATION_NOT_ENABLED");
    assert_eq!(app.signed_in(&ada).post(UPDATE, update("x", NEW)).await.code(), "PASSWORD_AUTHENTICATION_NOT_ENABLED");
}
