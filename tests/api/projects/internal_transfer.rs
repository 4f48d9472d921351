//! `POST /api/v1/internal/projects/transfer`.

use serde_json::json;
use support::{Answer, TestApp};

use crate::owners::{Owner, keys_of, with_token};

const PATH: &str = "/api/v1/internal/projects/transfer";

async fn transfer(owner: &Owner, project: &str, team: &str) -> Answer {
    owner.caller().post(PATH, json!({ "project_id": project, "new_team_id": team })).await
}

async fn new_team(owner: &Owner, name: &str) -> String {
    owner.caller().post("/api/v1/teams", json!({ "display_name": name, "creator_user_id": "me" })).await.json()["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn assert_error(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status(), answer.code().as_str()), (status, code), "{}", answer.text());
}

#[tokio::test]
async fn a_transferred_project_has_a_new_owner_and_keeps_its_keys() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let bob = Owner::sign_up(&app, &internal, "bob@example.com").await;
    let project = ada.project("Notes").await;
    let keys = keys_of(&app, &project, &ada.user.access_token).await;
    let shared = new_team(&ada, "Shared").await;
    let server = app.server_of(&internal);
    assert_eq!(server.post(&format!("/api/v1/team-memberships/{shared}/{}", bob.user.user_id), json!({})).await.status(), 201);
    assert!(bob.owned().await.is_empty());
    let done = transfer(&ada, &project, &shared).await;
    assert_eq!((done.status(), done.json()), (200, json!({ "success": "true" })));
    assert_eq!((ada.owned().await, bob.owned().await), (vec!["Notes".to_owned()], vec!["Notes".to_owned()]));
    let settings = async |token: &str| with_token(&app, &project, "admin", token).get("/api/v1/internal/projects/current").await;
    assert_eq!(settings(&bob.user.access_token).await.json()["owner_team_id"], json!(shared));
    // The keys still work. Users who are only in the former team can no longer open the project.
    let key = keys["super_secret_admin_key"].as_str().unwrap();
    let caller = app.anonymous().with("x-stack-project-id", &project).with("x-stack-access-type", "admin");
    assert_eq!(caller.with("x-stack-super-secret-admin-key", key).get("/api/v1/internal/projects/current").await.status(), 200);
    assert_eq!(server.delete(&format!("/api/v1/team-memberships/{shared}/{}", ada.user.user_id)).await.status(), 200);
    assert_ne!(settings(&ada.user.access_token).await.status(), 200);
    assert!(ada.owned().await.is_empty());
    // A member who may not delete the team cannot transfer the team's projects.
    assert_eq!(transfer(&bob, &project, &bob.team).await.code(), "TEAM_PERMISSION_REQUIRED");
}

#[tokio::test]
async fn only_users_who_may_delete_the_owning_team_can_give_a_project_away() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let eve = Owner::sign_up(&app, &internal, "eve@example.com").await;
    let project = ada.project("Notes").await;
    let nowhere = "6a0c5a8e-58a1-4b0e-9a51-0000000000ff";
    // The response does not reveal anything about the project to strangers.
    let stolen = transfer(&eve, &project, &eve.team).await;
    assert_error(&stolen, 404, "PROJECT_NOT_FOUND");
    assert_eq!(transfer(&eve, nowhere, &eve.team).await.json(), {
        let mut expected = stolen.json();
        expected["details"]["project_id"] = json!(nowhere);
        json!(serde_json::from_str::<serde_json::Value>(&expected.to_string().replace(&project, nowhere)).unwrap())
    });
    assert_error(&transfer(&eve, "internal", &eve.team).await, 404, "PROJECT_NOT_FOUND");
    assert_error(&transfer(&eve, app.project_id().as_str(), &eve.team).await, 404, "PROJECT_NOT_FOUND");
    // A member who may not delete the team cannot take its project.
    let server = app.server_of(&internal);
    assert_eq!(server.post(&format!("/api/v1/team-memberships/{}/{}", ada.team, eve.user.user_id), json!({})).await.status(), 201);
    assert_error(&transfer(&eve, &project, &eve.team).await, 401, "TEAM_PERMISSION_REQUIRED");
    // The caller must be a member of the receiving team.
    assert_error(&transfer(&ada, &project, &eve.team).await, 404, "TEAM_MEMBERSHIP_NOT_FOUND");
    assert_error(&transfer(&ada, &project, nowhere).await, 404, "TEAM_MEMBERSHIP_NOT_FOUND");
    assert_error(
        &app.client_of(&internal).post(PATH, json!({ "project_id": project, "new_team_id": ada.team })).await,
        401,
        "USER_AUTHENTICATION_REQUIRED",
    );
    let user = app.sign_up("ada@example.com").await;
    let elsewhere = app.signed_in(&user).post(PATH, json!({ "project_id": project, "new_team_id": ada.team })).await;
    assert_error(&elsewhere, 401, "EXPECTED_INTERNAL_PROJECT");
    assert_eq!((ada.owned().await, transfer(&ada, &project, &ada.team).await.status()), (vec!["Notes".to_owned()], 200));
}

#[tokio::test]
async fn concurrent_transfers_leave_one_owner() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let project = ada.project("Notes").await;
    let (one, two) = (new_team(&ada, "One").await, new_team(&ada, "Two").await);
    let (first, second) = tokio::join!(transfer(&ada, &project, &one), transfer(&ada, &project, &two));
    assert!([first, second].iter().all(|answer| answer.status() == 200));
    assert_eq!(ada.owned().await, ["Notes"]);
    let links = app.table().keys().filter(|(pk, sk)| pk.starts_with("T#internal#") && *sk == format!("PROJECT#{project}")).count();
    assert_eq!(links, 1);
}
