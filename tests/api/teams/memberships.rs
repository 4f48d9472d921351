//! Joining and leaving teams.

use serde_json::json;
use support::TestApp;

use super::{assert_error, grant, join, members_of, membership, team, teams_of};

#[tokio::test]
async fn a_server_can_add_a_user_to_a_team_once() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = team(&app, "Engines", None).await;
    let answer = app.server().post(&membership(&id, &ada.user_id), json!({})).await;
    assert_eq!((answer.status(), answer.json()), (201, json!({ "team_id": id, "user_id": ada.user_id })));
    assert_eq!(members_of(&app, &id).await, std::slice::from_ref(&ada.user_id));
    let again = app.server().post(&membership(&id, &ada.user_id), json!({})).await;
    assert_error(&again, 409, "TEAM_MEMBERSHIP_ALREADY_EXISTS");
    let nobody = "7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21";
    assert_error(&app.server().post(&membership(nobody, &ada.user_id), json!({})).await, 404, "TEAM_NOT_FOUND");
    assert_error(&app.server().post(&membership(&id, nobody), json!({})).await, 404, "USER_NOT_FOUND");
    assert_error(&app.signed_in(&ada).post(&membership(&id, "me"), json!({})).await, 403, "INSUFFICIENT_ACCESS_TYPE");
    assert_eq!(teams_of(&app, &ada.user_id).await, [id]);
}

#[tokio::test]
async fn a_member_can_leave_and_needs_permission_to_remove_others() {
    let app = TestApp::start().await;
    let (ada, bob, eve) =
        (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await, app.sign_up("eve@example.com").await);
    let id = team(&app, "Engines", Some(&ada)).await;
    join(&app, &id, &bob.user_id).await;
    let details = assert_error(&app.signed_in(&bob).delete(&membership(&id, &ada.user_id)).await, 401, "TEAM_PERMISSION_REQUIRED");
    assert_eq!(details["permission_id"], "$remove_members");
    assert_error(&app.signed_in(&eve).delete(&membership(&id, &bob.user_id)).await, 401, "TEAM_PERMISSION_REQUIRED");
    assert_error(&app.signed_in(&eve).delete(&membership(&id, "me")).await, 404, "TEAM_MEMBERSHIP_NOT_FOUND");
    assert_eq!(members_of(&app, &id).await.len(), 2);

    grant(&app, &id, &bob.user_id, "$remove_members").await;
    assert_eq!(app.signed_in(&bob).delete(&membership(&id, &ada.user_id)).await.status(), 200);
    assert_eq!(members_of(&app, &id).await, std::slice::from_ref(&bob.user_id));
    assert!(teams_of(&app, &ada.user_id).await.is_empty());
    assert_eq!(app.signed_in(&bob).delete(&membership(&id, "me")).await.status(), 200);
    assert!(members_of(&app, &id).await.is_empty() && teams_of(&app, &bob.user_id).await.is_empty());
    assert_error(&app.server().delete(&membership(&id, &bob.user_id)).await, 404, "TEAM_MEMBERSHIP_NOT_FOUND");
}

#[tokio::test]
async fn a_returning_member_has_the_permissions_of_a_new_one() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = team(&app, "Engines", Some(&ada)).await;
    assert_eq!(app.server().delete(&membership(&id, &ada.user_id)).await.status(), 200);
    join(&app, &id, &ada.user_id).await;
    let permissions = app.server().get(&format!("/api/v1/team-permissions?team_id={id}&user_id={}", ada.user_id)).await;
    assert_eq!(super::ids(&permissions), ["team_member"]);
}
