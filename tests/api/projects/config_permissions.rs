//! Permissions that a configuration defines, and their grants.

use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use support::TestApp;

use super::config::{CONFIG, assert_done, assert_refused, level, patch, put, read};

const TEAM: &str = "/api/v1/team-permission-definitions";

async fn push(app: &TestApp, values: Value) {
    assert_done(&put(&app.admin(), "branch", values, true).await);
}

fn editor() -> Value {
    json!({ "rbac": { "permissions": { "notes:edit": {
        "description": "Edits notes", "scope": "team", "containedPermissionIds": { "$read_members": true, "team_member": true },
    } } } })
}

async fn definition(app: &TestApp, id: &str) -> Value {
    let listed = app.admin().get(TEAM).await.json();
    listed["items"].as_array().unwrap().iter().find(|definition| definition["id"] == id).cloned().unwrap_or_default()
}

/// A team with a member who has `notes:edit`. Returns the path of the member's permissions.
async fn granted(app: &TestApp) -> String {
    let ada = app.sign_up("ada@example.com").await;
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Notes" })).await.json()["id"].as_str().unwrap().to_owned();
    let (member, server) = (format!("{team}/{}", ada.user_id), app.server());
    assert_eq!(server.post(&format!("/api/v1/team-memberships/{member}"), json!({})).await.status(), 201);
    assert_eq!(server.post(&format!("/api/v1/team-permissions/{member}/notes:edit"), json!({})).await.status(), 201);
    format!("/api/v1/team-permissions?team_id={team}&user_id={}", ada.user_id)
}

async fn holds(app: &TestApp, path: &str, id: &str) -> bool {
    let held = app.server().get(path).await.json();
    held["items"].as_array().unwrap().iter().any(|permission| permission["id"] == id)
}

#[tokio::test]
async fn a_pushed_permission_can_be_granted_and_is_shown_everywhere() {
    let app = TestApp::start().await;
    push(&app, editor()).await;
    let expected = json!({
        "id": "notes:edit", "description": "Edits notes", "contained_permission_ids": ["$read_members", "team_member"],
    });
    assert_eq!(definition(&app, "notes:edit").await, expected);
    assert_eq!(read(&app.admin(), &level("branch")).await, editor());
    let rendered = read(&app.admin(), CONFIG).await["rbac"]["permissions"].clone();
    assert_eq!(rendered["notes:edit"], editor()["rbac"]["permissions"]["notes:edit"]);
    assert_eq!(rendered["team_admin"]["scope"], "team", "the environment has the permissions that a project begins with");
    let held = granted(&app).await;
    assert!(holds(&app, &held, "notes:edit").await && holds(&app, &format!("{held}&recursive=true"), "$read_members").await);
}

#[tokio::test]
async fn a_file_that_leaves_a_permission_out_deletes_no_grants() {
    let app = TestApp::start().await;
    push(&app, editor()).await;
    let held = granted(&app).await;
    push(&app, json!({})).await;
    assert!(!holds(&app, &held, "notes:edit").await && holds(&app, &held, "team_member").await);
    assert_eq!(definition(&app, "notes:edit").await, Value::Null);
    push(&app, editor()).await;
    assert!(holds(&app, &held, "notes:edit").await);
    // Deleting a permission ends its grants, even if the pushed file no longer defines the
    // permission.
    push(&app, json!({})).await;
    assert_eq!(app.admin().delete(&format!("{TEAM}/notes:edit")).await.status(), 200);
    push(&app, editor()).await;
    assert!(!holds(&app, &held, "notes:edit").await);
    // The whole environment can also be replaced and restored.
    let environment = read(&app.admin(), &level("environment")).await;
    assert_done(&put(&app.admin(), "environment", json!({}), false).await);
    assert!(!holds(&app, &held, "team_member").await);
    assert_done(&put(&app.admin(), "environment", environment, false).await);
    assert!(holds(&app, &held, "team_member").await);
}

#[tokio::test]
async fn operations_on_definitions_write_the_environment() {
    let app = TestApp::start().await;
    let admin = app.admin();
    assert_eq!(admin.post(TEAM, json!({ "id": "notes:edit", "description": "Ours" })).await.status(), 201);
    let held = granted(&app).await;
    push(&app, editor()).await;
    assert_eq!(definition(&app, "notes:edit").await["description"], "Ours", "the environment overrides the branch");
    let renamed = json!({ "id": "notes:write", "contained_permission_ids": ["team_member"] });
    assert_eq!(admin.patch(&format!("{TEAM}/notes:edit"), renamed).await.status(), 200);
    assert!(holds(&app, &held, "notes:write").await);
    let environment = read(&admin, &level("environment")).await;
    assert_eq!(
        environment["rbac.permissions.notes:write"],
        json!({ "description": "Ours", "scope": "team", "containedPermissionIds": { "team_member": true } })
    );
    assert_eq!((&environment["rbac.permissions.notes:edit"], read(&admin, &level("branch")).await), (&Value::Null, json!({})));
    // While the environment defines the permission, a later push does not change it. Afterwards,
    // the branch's definition applies.
    push(&app, json!({})).await;
    assert!(holds(&app, &held, "notes:write").await);
    assert_eq!(admin.delete(&format!("{TEAM}/notes:write")).await.status(), 200);
    assert_eq!(read(&admin, &level("environment")).await["rbac.permissions.notes:write"], Value::Null);
    push(&app, editor()).await;
    assert!(!holds(&app, &held, "notes:edit").await && !holds(&app, &held, "notes:write").await);
}

#[tokio::test]
async fn a_server_defines_permissions_of_the_branch_but_not_of_the_environment() {
    let app = TestApp::start().await;
    let takes_over = json!({ "rbac.permissions.team_member": { "scope": "team", "containedPermissionIds": { "$delete_team": true } } });
    assert_done(&patch(&app.server(), "branch", takes_over.clone()).await);
    assert_eq!(definition(&app, "team_member").await["contained_permission_ids"], json!(["$invite_members", "$read_members"]));
    assert_eq!(patch(&app.server(), "environment", takes_over).await.code(), "INSUFFICIENT_ACCESS_TYPE");
    let wrong = json!({ "rbac.permissions.a": { "scope": "team", "containedPermissionIds": { "nobody": true } } });
    assert_refused(&patch(&app.server(), "branch", wrong).await, "rbac.permissions.a.containedPermissionIds.nobody must be");
}

#[tokio::test]
async fn concurrent_pushes_and_definitions_lose_nothing() {
    let app = TestApp::start().await;
    let (admin, server) = (app.admin(), app.server());
    let defined = async |number: usize| admin.post(TEAM, json!({ "id": format!("p{number}") })).await.status();
    let pushed = async |number: usize| {
        let path = format!("rbac.permissions.b{number}");
        patch(&server, "branch", json!({ path: { "scope": "team" } })).await.status()
    };
    let (mine, theirs) =
        tokio::join!(futures_util::future::join_all((0..4).map(defined)), futures_util::future::join_all((0..4).map(pushed)));
    for (number, (mine, theirs)) in mine.into_iter().zip(theirs).enumerate() {
        assert_eq!(definition(&app, &format!("p{number}")).await.is_null(), mine != 201, "{mine}");
        assert_eq!(definition(&app, &format!("b{number}")).await.is_null(), theirs != 200, "{theirs}");
    }
}

#[tokio::test]
async fn levels_of_an_earlier_version_keep_the_project_s_permissions() {
    let app = TestApp::start().await;
    assert_eq!(app.admin().post(TEAM, json!({ "id": "notes:edit" })).await.status(), 201);
    let held = granted(&app).await;
    // Gives the item the form of an earlier version, which stored neither permissions nor a mark
    // that the item contains them.
    let update = UpdateItemInput::builder().table_name(app.app.store.table());
    let update = update.key("pk", AttributeValue::S(format!("P#{}", app.project_id()))).key("sk", AttributeValue::S("CONFIG".to_owned()));
    let update = update.update_expression("SET d.environment = :text REMOVE d.has_permissions");
    let update = update.expression_attribute_values(":text", AttributeValue::S("{\"auth.password.allowSignIn\":true}".to_owned()));
    app.app.store.client().call(update).await.unwrap();

    push(&app, json!({ "teams.allowClientTeamCreation": true })).await;
    assert!(holds(&app, &held, "notes:edit").await && holds(&app, &held, "team_member").await);
    assert_eq!(read(&app.admin(), &level("environment")).await["rbac.permissions.notes:edit"]["scope"], "team");
}
