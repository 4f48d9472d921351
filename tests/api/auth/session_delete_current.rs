//! `DELETE /api/v1/auth/sessions/current`.

use serde_json::json;
use support::TestApp;

use super::{assert_error, assert_takes_client_access, opens_own_data};
use crate::stored;

const PATH: &str = "/api/v1/auth/sessions/current";

#[tokio::test]
async fn signing_out_ends_only_the_session_of_the_access_token() {
    let app = TestApp::start().await;
    let (phone, laptop) = (app.sign_up("ada@example.com").await, app.sign_in("ada@example.com").await);
    let answer = app.signed_in(&phone).request("DELETE", PATH).json(&json!({})).send().await;
    assert_eq!((answer.status(), answer.json()), (200, json!({ "success": true })));

    let sessions = app.signed_in(&laptop).get("/api/v1/auth/sessions").await.json();
    assert_eq!(sessions["items"].as_array().unwrap().len(), 1);
    assert_eq!(sessions["items"][0]["is_current_session"], true);
    assert!(!opens_own_data(&app, &phone).await, "no access token outlives its session");
}

#[tokio::test]
async fn ending_a_session_twice_fails() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    assert_eq!(app.signed_in(&ada).delete(PATH).await.status(), 200);
    assert_error(&app.signed_in(&ada).delete(PATH).await, 401, "ACCESS_TOKEN_EXPIRED");
}

#[tokio::test]
async fn the_access_token_determines_the_session() {
    let app = TestApp::start().await;
    let (phone, laptop) = (app.sign_up("ada@example.com").await, app.sign_in("ada@example.com").await);
    let mixed = app.client().with("x-stack-access-token", &phone.access_token).with("x-stack-refresh-token", &laptop.refresh_token);
    assert_eq!(mixed.delete(PATH).await.status(), 200);
    let refresh = |token: &str| app.client().with("x-stack-refresh-token", token);
    assert_eq!(refresh(&laptop.refresh_token).post("/api/v1/auth/sessions/current/refresh", json!({})).await.status(), 200);
    assert_eq!(refresh(&phone.refresh_token).post("/api/v1/auth/sessions/current/refresh", json!({})).await.status(), 401);
}

#[tokio::test]
async fn signing_out_requires_a_user() {
    let app = TestApp::start().await;
    let details = assert_error(&app.client().delete(PATH).await, 401, "ACCESS_TOKEN_EXPIRED");
    assert_eq!(details, json!({ "expired_at_millis": null, "project_id": null, "user_id": null, "refresh_token_id": null }));

    let ada = app.sign_up("ada@example.com").await;
    stored::delete_user(&app, &ada).await;
    let deleted = app.signed_in(&ada).delete(PATH).await;
    assert_eq!(assert_error(&deleted, 401, "ACCESS_TOKEN_EXPIRED")["user_id"], ada.user_id.as_str());
}

#[tokio::test]
async fn client_access_is_required() {
    let app = TestApp::start().await;
    assert_takes_client_access(&app, "DELETE", PATH).await;
    let ada = app.sign_up("ada@example.com").await;
    assert_eq!(app.server().with("x-stack-access-token", &ada.access_token).delete(PATH).await.status(), 200);
}
