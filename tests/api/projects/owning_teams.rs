//! A team that owns projects always keeps a member, and is not deleted.

use serde_json::json;
use support::{Answer, TestApp};
use wire::id::ProjectId;

use crate::owners::{Owner, PROJECTS, with_token};

fn assert_owns(answer: &Answer, team: &str) {
    assert_eq!((answer.status(), answer.code().as_str()), (409, "TEAM_OWNS_PROJECTS"), "{}", answer.text());
    assert_eq!(answer.json()["details"], json!({ "team_id": team }));
}

fn team_path(owner: &Owner) -> String {
    format!("/api/v1/teams/{}", owner.team)
}

fn membership(owner: &Owner, of: &Owner) -> String {
    format!("/api/v1/team-memberships/{}/{}", owner.team, of.user.user_id)
}

/// The links to projects from teams that do not exist or have no members.
fn orphans(app: &TestApp) -> Vec<(String, String)> {
    let keys: Vec<(String, String)> = app.table().into_keys().filter(|(pk, _)| pk.starts_with("T#internal#")).collect();
    let has = |team: &str, start: &str| keys.iter().any(|(pk, sk)| pk == team && sk.starts_with(start));
    keys.iter().filter(|(pk, sk)| sk.starts_with("PROJECT#") && !(has(pk, "TEAM") && has(pk, "USER#"))).cloned().collect()
}

#[tokio::test]
async fn a_team_cannot_be_deleted_while_it_owns_projects() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let project = ada.project("Notes").await;
    assert_owns(&ada.caller().delete(&team_path(&ada)).await, &ada.team);
    assert_owns(&app.server_of(&internal).delete(&team_path(&ada)).await, &ada.team);
    assert_eq!(ada.owned().await, ["Notes"]);

    let other = ada.caller().post("/api/v1/teams", json!({ "display_name": "Other", "creator_user_id": "me" })).await.json();
    let body = json!({ "project_id": project, "new_team_id": other["id"] });
    assert_eq!(ada.caller().post("/api/v1/internal/projects/transfer", body).await.status(), 200);
    assert_eq!(ada.caller().delete(&team_path(&ada)).await.status(), 200);
    let other = other["id"].as_str().unwrap();
    assert_owns(&ada.caller().delete(&format!("/api/v1/teams/{other}")).await, other);
    let owner = with_token(&app, &project, "admin", &ada.user.access_token);
    assert_eq!(owner.delete("/api/v1/internal/projects/current").await.status(), 200);
    assert_eq!(ada.caller().delete(&format!("/api/v1/teams/{other}")).await.status(), 200);
}

#[tokio::test]
async fn a_project_deleted_after_a_transfer_leaves_no_link_to_either_team() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let id = ada.project("Notes").await;
    let read = app.app.store.project(&ProjectId::parse(&id).unwrap()).await.unwrap().unwrap().project;
    let other = ada.caller().post("/api/v1/teams", json!({ "display_name": "Other", "creator_user_id": "me" })).await.json();
    let transfer = json!({ "project_id": id, "new_team_id": other["id"] });
    assert_eq!(ada.caller().post("/api/v1/internal/projects/transfer", transfer).await.status(), 200);
    app.app.store.end_project(&read, app.now()).await.unwrap();
    let links: Vec<_> = app.table().into_keys().filter(|(pk, sk)| pk.starts_with("T#internal#") && sk.starts_with("PROJECT#")).collect();
    assert_eq!(links, []);
    let again = app.app.store.end_project(&read, app.now()).await;
    assert!(matches!(again, Err(store::Error::Conflict(_))), "{again:?}");
}

#[tokio::test]
async fn a_link_to_a_project_that_is_gone_does_not_count() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let bob = Owner::sign_up(&app, &internal, "bob@example.com").await;
    for owner in [&ada, &bob] {
        let project = owner.project("Notes").await;
        let key = json!({ "pk": { "S": format!("P#{project}") }, "sk": { "S": "PROJECT" } });
        let delete = json!({ "TableName": gateway::engine::TABLE, "Key": key });
        app.database().delete_item(serde_json::from_value(delete).unwrap()).unwrap();
    }
    assert_eq!(ada.caller().delete(&membership(&ada, &ada)).await.status(), 200);
    assert_eq!(bob.caller().delete(&team_path(&bob)).await.status(), 200);
}

#[tokio::test]
async fn the_last_member_of_a_team_that_owns_projects_cannot_leave() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let bob = Owner::sign_up(&app, &internal, "bob@example.com").await;
    ada.project("Notes").await;
    assert_owns(&ada.caller().delete(&membership(&ada, &ada)).await, &ada.team);
    assert_eq!(app.server_of(&internal).post(&membership(&ada, &bob), json!({})).await.status(), 201);
    assert_eq!(ada.caller().delete(&membership(&ada, &ada)).await.status(), 200);
    assert_owns(&bob.caller().delete(&membership(&ada, &bob)).await, &ada.team);
    // Anyone can leave a team that owns no projects.
    assert_eq!(bob.caller().delete(&membership(&bob, &bob)).await.status(), 200);
    // An account can always be deleted.
    let path = format!("/api/v1/users/{}", bob.user.user_id);
    assert_eq!(app.server_of(&internal).delete(&path).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_project_that_comes_to_a_team_during_its_deletion_is_not_orphaned() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    for round in 0..20 {
        let ada = Owner::sign_up(&app, &internal, &format!("ada{round}@example.com")).await;
        let (caller, path) = (ada.caller(), team_path(&ada));
        let (deleted, created) = if round % 2 == 0 {
            tokio::join!(caller.delete(&path), ada.create("Notes"))
        } else {
            let other = ada.caller().post("/api/v1/teams", json!({ "display_name": "Other", "creator_user_id": "me" })).await.json();
            let made = json!({ "display_name": "Notes", "owner_team_id": other["id"] });
            let made = ada.caller().post(PROJECTS, made).await.json();
            let transfer = json!({ "project_id": made["id"], "new_team_id": ada.team });
            tokio::join!(caller.delete(&path), caller.post("/api/v1/internal/projects/transfer", transfer))
        };
        assert!(matches!(deleted.status(), 200 | 409), "{}", deleted.text());
        assert!(matches!(created.status(), 200 | 201 | 404), "{}", created.text());
        assert_eq!(deleted.status() == 200, created.status() == 404, "one of them succeeds");
        assert_eq!(orphans(&app), [], "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_the_last_two_members_who_leave_at_once_one_stays() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    for round in 0..20 {
        let ada = Owner::sign_up(&app, &internal, &format!("ada{round}@example.com")).await;
        let bob = Owner::sign_up(&app, &internal, &format!("bob{round}@example.com")).await;
        ada.project("Notes").await;
        assert_eq!(app.server_of(&internal).post(&membership(&ada, &bob), json!({})).await.status(), 201);
        let (one, two) = (ada.caller(), bob.caller());
        let (own, other) = (membership(&ada, &ada), membership(&ada, &bob));
        let (first, second) = tokio::join!(one.delete(&own), two.delete(&other));
        let mut statuses = [first.status(), second.status()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{}{}", first.text(), second.text());
        assert_eq!(orphans(&app), [], "round {round}");
    }
}
