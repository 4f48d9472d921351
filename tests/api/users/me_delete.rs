//! `DELETE /api/v1/users/me`.

use jiff::SignedDuration;
use serde_json::json;
use support::TestApp;

use super::{ME, assert_error, path, read, refresh, sign_in};

#[tokio::test]
async fn a_client_can_delete_its_user_if_enabled() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let answer = app.signed_in(&ada).delete(ME).await;
    assert_error(&answer, 403, "USER_DELETION_NOT_ENABLED");
    assert_eq!(answer.header("x-stack-known-error"), None, "the code is not one of the SDKs'");
    assert_eq!(read(&app, &ada.user_id).await["id"], ada.user_id.as_str());

    app.configure(json!({ "config": { "client_user_deletion_enabled": true } })).await;
    let answer = app.signed_in(&ada).delete(ME).await;
    assert_eq!((answer.status(), answer.json()), (200, json!({ "success": true })));
    assert_error(&app.server().get(&path(&ada.user_id)).await, 404, "USER_NOT_FOUND");
    assert_error(&app.signed_in(&ada).delete(ME).await, 401, "ACCESS_TOKEN_EXPIRED");
    assert_error(&refresh(&app, &ada).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    assert_error(&sign_in(&app, "ada@example.com", "correct horse battery").await, 400, "EMAIL_PASSWORD_MISMATCH");
}

#[tokio::test]
async fn a_server_can_always_delete_the_user() {
    let app = TestApp::start().await;
    for (caller, email) in [(app.server(), "ada@example.com"), (app.admin(), "bob@example.com")] {
        let user = app.sign_up(email).await;
        assert_eq!(caller.with("x-stack-access-token", &user.access_token).delete(ME).await.status(), 200);
        assert_error(&app.server().get(&path(&user.user_id)).await, 404, "USER_NOT_FOUND");
    }
}

#[tokio::test]
async fn deletion_requires_a_user() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for caller in [app.client(), app.server(), app.admin()] {
        assert_error(&caller.delete(ME).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
    }
    assert_error(&app.anonymous().delete(ME).await, 401, "ACCESS_TYPE_REQUIRED");
    assert_eq!(read(&app, &ada.user_id).await["id"], ada.user_id.as_str());
}

#[tokio::test]
async fn deletion_requires_recent_authentication_if_the_project_does() {
    let app = TestApp::start().await;
    let config = json!({ "client_user_deletion_enabled": true, "reauthentication_max_age_seconds": 60 });
    app.configure(json!({ "config": config })).await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    app.advance(SignedDuration::from_secs(60));
    let table = app.table();
    assert_error(&app.signed_in(&ada).delete(ME).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_eq!(app.table(), table);
    let proof = json!({ "password": "correct horse battery" });
    assert_eq!(app.signed_in(&ada).post("/api/v1/auth/sessions/current/reauthenticate", proof).await.status(), 200);
    assert_eq!(app.signed_in(&ada).delete(ME).await.status(), 200);
    // Servers do not need recent authentication.
    assert_eq!(app.server().with("x-stack-access-token", &bob.access_token).delete(ME).await.status(), 200);
}

#[tokio::test]
async fn an_old_session_deletes_the_user_of_a_project_without_that_setting() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "client_user_deletion_enabled": true } })).await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_secs(599));
    assert_eq!(app.signed_in(&ada).delete(ME).await.status(), 200);
}
