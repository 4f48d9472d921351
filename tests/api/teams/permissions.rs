//! Granting permissions in teams and in the project.

use serde_json::json;
use support::TestApp;

use super::{assert_error, define, grant, ids, join, team};

const GRANTS: &str = "/api/v1/team-permissions";
const PROJECT_GRANTS: &str = "/api/v1/project-permissions";

#[tokio::test]
async fn a_granted_permission_includes_the_contained_ones() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = team(&app, "Engines", None).await;
    join(&app, &id, &ada.user_id).await;
    define(&app, "team", "read_invoices", &[]).await;
    define(&app, "team", "write_invoices", &["read_invoices", "$update_team"]).await;
    grant(&app, &id, &ada.user_id, "write_invoices").await;
    grant(&app, &id, &ada.user_id, "write_invoices").await;
    let own = |recursive: bool| format!("{GRANTS}?team_id={id}&user_id=me&recursive={recursive}");
    let direct = app.signed_in(&ada).get(&own(false)).await;
    assert_eq!(ids(&direct), ["team_member", "write_invoices"]);
    assert_eq!(direct.json()["items"][0], json!({ "id": "team_member", "team_id": id, "user_id": ada.user_id }));
    let all = ids(&app.signed_in(&ada).get(&own(true)).await);
    assert_eq!(all, ["$invite_members", "$read_members", "$update_team", "read_invoices", "team_member", "write_invoices"]);
    let path = format!("/api/v1/teams/{id}");
    assert_eq!(app.signed_in(&ada).patch(&path, json!({ "display_name": "Looms" })).await.status(), 200);

    let grant_path = format!("{GRANTS}/{id}/{}/write_invoices", ada.user_id);
    assert_eq!(app.server().delete(&grant_path).await.status(), 200);
    assert_eq!(ids(&app.signed_in(&ada).get(&own(false)).await), ["team_member"]);
    assert_error(&app.signed_in(&ada).patch(&path, json!({ "display_name": "x" })).await, 401, "TEAM_PERMISSION_REQUIRED");
    let details = assert_error(&app.server().delete(&grant_path).await, 401, "TEAM_PERMISSION_NOT_FOUND");
    assert_eq!(details, json!({ "team_id": id, "user_id": ada.user_id, "permission_id": "write_invoices" }));
}

#[tokio::test]
async fn only_team_permissions_can_be_granted_to_members() {
    let app = TestApp::start().await;
    let (ada, eve) = (app.sign_up("ada@example.com").await, app.sign_up("eve@example.com").await);
    let id = team(&app, "Engines", Some(&ada)).await;
    define(&app, "project", "audit", &[]).await;
    let path = |user: &str, permission: &str| format!("{GRANTS}/{id}/{user}/{permission}");
    let wrong = app.server().post(&path(&ada.user_id, "audit"), json!({})).await;
    let expected = json!({ "permission_id": "audit", "expected_scope": "team", "actual_scope": "project" });
    assert_eq!(assert_error(&wrong, 404, "WRONG_PERMISSION_SCOPE"), expected);
    assert_error(&app.server().post(&path(&ada.user_id, "nothing"), json!({})).await, 404, "PERMISSION_NOT_FOUND");
    assert_error(&app.server().post(&path(&ada.user_id, "$own"), json!({})).await, 400, "SCHEMA_ERROR");
    assert_error(&app.server().post(&path(&eve.user_id, "team_admin"), json!({})).await, 404, "TEAM_MEMBERSHIP_NOT_FOUND");
    assert_error(&app.signed_in(&ada).post(&path("me", "team_member"), json!({})).await, 403, "INSUFFICIENT_ACCESS_TYPE");
    assert_eq!(ids(&app.server().get(&format!("{GRANTS}?team_id={id}")).await), ["team_admin"]);
}

#[tokio::test]
async fn permissions_can_be_listed_by_user_team_and_id() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let first = team(&app, "Engines", Some(&ada)).await;
    let second = team(&app, "Looms", Some(&bob)).await;
    join(&app, &second, &ada.user_id).await;
    let of_ada = app.server().get(&format!("{GRANTS}?user_id={}", ada.user_id)).await;
    let mut found: Vec<(String, String)> = of_ada.json()["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["team_id"].as_str().unwrap().to_owned(), item["id"].as_str().unwrap().to_owned()))
        .collect();
    found.sort();
    let mut expected = vec![(first.clone(), "team_admin".to_owned()), (second.clone(), "team_member".to_owned())];
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!((&of_ada.json()["is_paginated"], &of_ada.json()["pagination"]["next_cursor"]), (&json!(true), &json!(null)));
    let one = app.server().get(&format!("{GRANTS}?team_id={second}&permission_id=team_admin")).await;
    assert_eq!(one.json()["items"], json!([{ "id": "team_admin", "team_id": second, "user_id": bob.user_id }]));
    assert_error(&app.server().get(GRANTS).await, 400, "SCHEMA_ERROR");
    assert_error(&app.signed_in(&ada).get(&format!("{GRANTS}?team_id={second}")).await, 403, "FORBIDDEN");
    let other = format!("{GRANTS}?team_id={second}&user_id={}", bob.user_id);
    assert_error(&app.signed_in(&ada).get(&other).await, 403, "FORBIDDEN");
}

#[tokio::test]
async fn a_user_has_project_permissions_too() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    define(&app, "project", "read", &[]).await;
    define(&app, "project", "audit", &["read"]).await;
    let path = format!("{PROJECT_GRANTS}/{}/audit", ada.user_id);
    let granted = app.server().post(&path, json!({})).await;
    assert_eq!((granted.status(), granted.json()), (201, json!({ "id": "audit", "user_id": ada.user_id })));
    let own = format!("{PROJECT_GRANTS}?user_id=me");
    assert_eq!(ids(&app.signed_in(&ada).get(&own).await), ["audit"]);
    assert_eq!(ids(&app.signed_in(&ada).get(&format!("{own}&recursive=true")).await), ["audit", "read"]);
    let wrong = app.server().post(&format!("{PROJECT_GRANTS}/{}/team_admin", ada.user_id), json!({})).await;
    assert_error(&wrong, 404, "WRONG_PERMISSION_SCOPE");
    assert_eq!(app.server().delete(&path).await.status(), 200);
    assert!(ids(&app.signed_in(&ada).get(&own).await).is_empty());
    assert_error(&app.server().delete(&path).await, 404, "PERMISSION_NOT_FOUND");
    let nobody = format!("{PROJECT_GRANTS}/7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21/audit");
    assert_error(&app.server().post(&nobody, json!({})).await, 404, "USER_NOT_FOUND");
    assert_error(&app.signed_in(&ada).get(PROJECT_GRANTS).await, 403, "FORBIDDEN");
}
