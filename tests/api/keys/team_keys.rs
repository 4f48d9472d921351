//! `POST`, `GET` and `PATCH /api/v1/team-api-keys`.

use serde_json::json;

use super::{ADA, TEAM_KEYS, checked, error, started, team_key, text};

#[tokio::test]
async fn members_with_the_permission_manage_the_keys_of_a_team() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let (team, key) = team_key(&app, &ada).await;
    assert_eq!((&key["type"], &key["team_id"], key.get("user_id")), (&json!("team"), &json!(team), None));
    let path = format!("{TEAM_KEYS}/{}?team_id={team}", text(&key["id"]));
    assert_eq!(app.signed_in(&ada).get(&path).await.json()["description"], "Deployments");
    assert_eq!(app.signed_in(&ada).patch(&path, json!({ "revoked": true })).await.status(), 200);
    assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await, error(401, "API_KEY_REVOKED"));
}

#[tokio::test]
async fn a_team_seems_to_have_no_keys_to_those_who_may_not_manage_them() {
    let app = started().await;
    let (ada, bob, eve) = (app.sign_up(ADA).await, app.sign_up("bob@example.com").await, app.sign_up("eve@example.com").await);
    let (team, key) = team_key(&app, &ada).await;
    let membership = format!("/api/v1/team-memberships/{team}/{}", bob.user_id);
    assert_eq!(app.server().post(&membership, json!({})).await.status(), 201);
    let (list, path) = (format!("{TEAM_KEYS}?team_id={team}"), format!("{TEAM_KEYS}/{}?team_id={team}", text(&key["id"])));
    let rotate = format!("{TEAM_KEYS}/{}/rotate?team_id={team}", text(&key["id"]));
    for user in [&bob, &eve] {
        let caller = app.signed_in(user);
        for answer in [
            caller.post(TEAM_KEYS, json!({ "team_id": team, "description": "CI" })).await,
            caller.get(&list).await,
            caller.get(&path).await,
            caller.patch(&path, json!({ "revoked": true })).await,
            caller.post(&rotate, json!({})).await,
        ] {
            assert_eq!((answer.status(), answer.code()), error(404, "API_KEY_NOT_FOUND"));
        }
    }
    let permission = format!("/api/v1/team-permissions/{team}/{}/$manage_api_keys", bob.user_id);
    assert_eq!(app.server().post(&permission, json!({})).await.status(), 201);
    assert_eq!(app.signed_in(&bob).get(&list).await.json()["items"][0]["id"], key["id"]);
    assert_eq!(app.server().delete(&permission).await.status(), 200);
    assert_eq!(app.signed_in(&bob).get(&list).await.status(), 404, "a permission that is taken away ends at once");
    assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await.0, 200);
}

#[tokio::test]
async fn a_client_without_a_session_reads_no_keys() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let (team, _) = team_key(&app, &ada).await;
    let answer = app.client().get(&format!("{TEAM_KEYS}?team_id={team}")).await;
    assert_eq!((answer.status(), answer.code()), error(401, "USER_AUTHENTICATION_REQUIRED"));
    let answer = app.client().get("/api/v1/user-api-keys?user_id=me").await;
    assert_eq!((answer.status(), answer.code()), error(401, "USER_AUTHENTICATION_REQUIRED"));
}

#[tokio::test]
async fn a_server_is_told_that_a_team_does_not_exist() {
    let app = started().await;
    let missing = "7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21";
    let answer = app.server().post(TEAM_KEYS, json!({ "team_id": missing, "description": "CI" })).await;
    assert_eq!((answer.status(), answer.code()), error(404, "TEAM_NOT_FOUND"));
}

#[tokio::test]
async fn changes_of_a_team_keep_its_keys() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let (team, key) = team_key(&app, &ada).await;
    assert_eq!(app.signed_in(&ada).patch(&format!("/api/v1/teams/{team}"), json!({ "display_name": "Turbines" })).await.status(), 200);
    assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await.0, 200);
    let team = app.server().get(&format!("/api/v1/teams/{team}")).await;
    assert!(!team.text().contains("last_four"), "{}", team.text());
}
