//! The limits for anonymous users in their teams.

use serde_json::json;
use support::{SignedInUser, TestApp};

use crate::auth::assert_error;

#[tokio::test]
async fn anonymous_users_neither_invite_nor_create_keys_of_a_team() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "create_team_on_sign_up": true, "allow_team_api_keys": true } })).await;
    let nobody = SignedInUser::of("", &app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json());
    let client = app.signed_in(&nobody).with("x-stack-allow-anonymous-user", "true");
    let team = client.get("/api/v1/users/me").await.json()["selected_team_id"].clone();
    assert!(team.is_string());
    let invitation = json!({ "team_id": team, "email": "eve@example.com", "callback_url": "http://localhost:3000/join" });
    let key = json!({ "team_id": team, "description": "CI", "expires_at_millis": null });
    for (path, body) in [("/api/v1/team-invitations/send-code", invitation), ("/api/v1/team-api-keys", key)] {
        assert_error(&client.post(path, body.clone()).await, 401, "ANONYMOUS_AUTHENTICATION_NOT_ALLOWED");
        assert_eq!(app.server().post(path, body).await.status(), 200, "a server may: {path}");
    }
}
