//! Definitions of permissions.

use serde_json::json;
use support::TestApp;

use super::{assert_error, define, grant, ids, join, team};

const TEAM_PERMISSIONS: &str = "/api/v1/team-permission-definitions";

#[tokio::test]
async fn a_project_starts_with_the_system_permissions_and_two_of_its_own() {
    let app = TestApp::start().await;
    let answer = app.admin().get(TEAM_PERMISSIONS).await;
    let system = ["$delete_team", "$invite_members", "$manage_api_keys", "$read_members", "$remove_members", "$update_team"];
    assert_eq!(ids(&answer), [system.as_slice(), &["team_admin", "team_member"]].concat());
    assert_eq!(answer.json()["items"][6]["contained_permission_ids"], json!(system));
    assert!(ids(&app.admin().get("/api/v1/project-permission-definitions").await).is_empty());
    assert_error(&app.server().get(TEAM_PERMISSIONS).await, 403, "INSUFFICIENT_ACCESS_TYPE");
    let config = app.admin().get("/api/v1/internal/projects/current").await.json()["config"].clone();
    assert_eq!(config["team_creator_default_permissions"], json!([{ "id": "team_admin" }]));
    assert_eq!(config["team_member_default_permissions"], json!([{ "id": "team_member" }]));
    assert_eq!(config["user_default_permissions"], json!([]));
}

#[tokio::test]
async fn an_administrator_can_define_change_and_delete_permissions() {
    let app = TestApp::start().await;
    let body = json!({ "id": "read:invoices", "description": "Sees invoices" });
    let created = app.admin().post(TEAM_PERMISSIONS, body.clone()).await;
    let expected = json!({ "id": "read:invoices", "description": "Sees invoices", "contained_permission_ids": [] });
    assert_eq!((created.status(), created.json()), (201, expected));
    assert_error(&app.admin().post(TEAM_PERMISSIONS, body).await, 400, "PERMISSION_ID_ALREADY_EXISTS");
    define(&app, "team", "write", &["read:invoices"]).await;
    let path = format!("{TEAM_PERMISSIONS}/read:invoices");
    let cycle = app.admin().patch(&path, json!({ "contained_permission_ids": ["write"] })).await;
    assert_eq!(assert_error(&cycle, 400, "PERMISSION_CONTAINS_ITSELF"), json!({ "permission_id": "read:invoices" }));
    let missing = app.admin().patch(&path, json!({ "contained_permission_ids": ["nothing"] })).await;
    assert_eq!(assert_error(&missing, 400, "CONTAINED_PERMISSION_NOT_FOUND"), json!({ "permission_id": "nothing" }));
    let changed = app.admin().patch(&path, json!({ "description": null, "id": "see" })).await;
    assert_eq!(changed.json(), json!({ "id": "see", "contained_permission_ids": [] }));
    let found = app.admin().get(&format!("{TEAM_PERMISSIONS}?query=WRI")).await.json()["items"].clone();
    assert_eq!(found, json!([{ "id": "write", "contained_permission_ids": ["see"] }]));
    assert_eq!(app.admin().delete(&format!("{TEAM_PERMISSIONS}/see")).await.status(), 200);
    assert_error(&app.admin().delete(&format!("{TEAM_PERMISSIONS}/see")).await, 404, "PERMISSION_NOT_FOUND");
    assert_error(&app.admin().delete(&format!("{TEAM_PERMISSIONS}/$update_team")).await, 404, "PERMISSION_NOT_FOUND");
    let left = app.admin().get(&format!("{TEAM_PERMISSIONS}?query=write")).await.json()["items"].clone();
    assert_eq!(left, json!([{ "id": "write", "contained_permission_ids": [] }]));
}

#[tokio::test]
async fn a_recreated_permission_is_granted_to_nobody() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = team(&app, "Engines", None).await;
    join(&app, &id, &ada.user_id).await;
    define(&app, "team", "write", &["$update_team"]).await;
    grant(&app, &id, &ada.user_id, "write").await;
    assert_eq!(app.admin().delete(&format!("{TEAM_PERMISSIONS}/write")).await.status(), 200);
    define(&app, "team", "write", &["$update_team"]).await;
    let own = app.signed_in(&ada).get(&format!("/api/v1/team-permissions?team_id={id}&user_id=me")).await;
    assert_eq!(ids(&own), ["team_member"]);
    let change = app.signed_in(&ada).patch(&format!("/api/v1/teams/{id}"), json!({ "display_name": "x" })).await;
    assert_error(&change, 401, "TEAM_PERMISSION_REQUIRED");
}

#[tokio::test]
async fn definitions_are_paginated_on_request() {
    let app = TestApp::start().await;
    let first = app.admin().get(&format!("{TEAM_PERMISSIONS}?limit=5")).await;
    let cursor = first.json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    let cursor: String = url::form_urlencoded::byte_serialize(cursor.as_bytes()).collect();
    let rest = app.admin().get(&format!("{TEAM_PERMISSIONS}?limit=5&cursor={cursor}")).await;
    assert_eq!((ids(&first).len(), ids(&rest).len()), (5, 3));
    assert!(rest.json()["pagination"]["next_cursor"].is_null());
}

#[tokio::test]
async fn default_permissions_are_a_setting() {
    let app = TestApp::start().await;
    define(&app, "team", "captain", &["$delete_team"]).await;
    define(&app, "project", "beta", &[]).await;
    let setting = |key: &str, id: &str| json!({ "config": { key: [{ "id": id }] } });
    for wrong in [setting("team_creator_default_permissions", "beta"), setting("user_default_permissions", "captain")] {
        let answer = app.admin().patch("/api/v1/internal/projects/current", wrong).await;
        assert_error(&answer, 400, "SCHEMA_ERROR");
    }
    app.configure(setting("team_creator_default_permissions", "captain")).await;
    app.configure(setting("user_default_permissions", "beta")).await;
    app.configure(json!({ "config": { "team_member_default_permissions": [] } })).await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_in_by_mail("bob@example.com").await);
    let id = team(&app, "Engines", Some(&ada)).await;
    join(&app, &id, &bob.user_id).await;
    let all = app.server().get(&format!("/api/v1/team-permissions?team_id={id}")).await.json()["items"].clone();
    assert_eq!(all, json!([{ "id": "captain", "team_id": id, "user_id": ada.user_id }]));
    for user in [&ada, &bob] {
        assert_eq!(ids(&app.signed_in(user).get("/api/v1/project-permissions?user_id=me").await), ["beta"]);
    }
    let created = app.server().post("/api/v1/users", json!({})).await.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(ids(&app.server().get(&format!("/api/v1/project-permissions?user_id={created}")).await), ["beta"]);
}
