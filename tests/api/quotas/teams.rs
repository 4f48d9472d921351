//! The maximum number of teams that a user can create.

use futures_util::future::join_all;
use serde_json::{Value, json};
use support::{Caller, SignedInUser, TestApp};

use super::count;
use crate::auth::assert_error;
use crate::teams::{join, team};

const TEAMS: &str = "/api/v1/teams";

async fn world(max: u16) -> (TestApp, SignedInUser) {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "client_team_creation_enabled": true, "max_teams_per_user": max } })).await;
    let ada = app.sign_up("ada@example.com").await;
    (app, ada)
}

async fn create(caller: &Caller) -> String {
    let answer = caller.post(TEAMS, json!({ "display_name": "Engines" })).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    answer.json()["id"].as_str().unwrap().to_owned()
}

async fn assert_full(caller: &Caller, max: u16) {
    let answer = caller.post(TEAMS, json!({ "display_name": "One more" })).await;
    assert_error(&answer, 400, "TOO_MANY_TEAMS");
    assert_eq!(answer.json()["details"], json!({ "max": max }));
}

#[tokio::test]
async fn a_user_creates_50_teams_and_deleting_one_makes_room() {
    let (app, ada) = world(50).await;
    let config = app.admin().get("/api/v1/internal/projects/current").await.json()["config"].clone();
    assert_eq!((&config["max_teams_per_user"], &config["anonymous_creation_enabled"]), (&json!(50), &json!(false)));
    let caller = app.signed_in(&ada);
    let teams: Vec<String> = join_all((0..50).map(|_| create(&caller))).await;
    assert_full(&caller, 50).await;
    assert_eq!(app.signed_in(&ada).get(&format!("{TEAMS}?user_id=me")).await.json()["items"].as_array().unwrap().len(), 50);
    // A deleted team no longer counts towards the quota of its creator, no matter who deleted it.
    assert_eq!(app.server().delete(&format!("{TEAMS}/{}", teams[0])).await.status(), 200);
    create(&caller).await;
    assert_full(&caller, 50).await;
    assert_eq!(caller.delete(&format!("{TEAMS}/{}", teams[1])).await.status(), 200);
    create(&caller).await;
    assert_full(&caller, 50).await;
    // The quota of one user does not affect other users. Servers have no quota.
    create(&app.signed_in(&app.sign_up("bob@example.com").await)).await;
    team(&app, "A server's", Some(&ada)).await;
    team(&app, "Nobody's", None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_parallel_requests_only_as_many_create_a_team_as_there_is_room_for() {
    let (app, ada) = world(5).await;
    let caller = app.signed_in(&ada);
    let answers = join_all((0..20).map(|_| caller.post(TEAMS, json!({ "display_name": "Engines" })))).await;
    assert_eq!((count(&answers, 201), count(&answers, 400)), (5, 15));
    assert_eq!(app.table().keys().filter(|(pk, sk)| pk.starts_with("T#") && sk == "TEAM").count(), 5);
}

/// If it made room, a user could repeatedly create and leave teams, and fill the table with teams
/// that nobody owns.
#[tokio::test]
async fn leaving_a_team_makes_no_room() {
    let (app, ada) = world(1).await;
    let caller = app.signed_in(&ada);
    let id = create(&caller).await;
    assert_eq!(caller.delete(&format!("/api/v1/team-memberships/{id}/me")).await.status(), 200);
    assert_full(&caller, 1).await;
    assert_eq!(app.server().delete(&format!("{TEAMS}/{id}")).await.status(), 200);
    create(&caller).await;
}

#[tokio::test]
async fn a_team_that_its_creator_has_selected_is_deleted_with_its_place_in_the_quota() {
    let (app, ada) = world(1).await;
    let (caller, bob) = (app.signed_in(&ada), app.sign_up("bob@example.com").await);
    let id = create(&caller).await;
    join(&app, &id, &bob.user_id).await;
    for user in [&ada, &bob] {
        assert_eq!(app.signed_in(user).patch("/api/v1/users/me", json!({ "selected_team_id": id })).await.status(), 200);
    }
    assert_eq!(caller.delete(&format!("{TEAMS}/{id}")).await.status(), 200);
    for user in [&ada, &bob] {
        assert_eq!(app.signed_in(user).get("/api/v1/users/me").await.json()["selected_team_id"], Value::Null);
    }
    create(&caller).await;
}

#[tokio::test]
async fn a_team_outlives_the_account_of_its_creator_and_can_be_deleted() {
    let (app, ada) = world(1).await;
    let id = create(&app.signed_in(&ada)).await;
    join(&app, &id, &app.sign_up("bob@example.com").await.user_id).await;
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", ada.user_id)).await.status(), 200);
    assert_eq!(app.server().delete(&format!("{TEAMS}/{id}")).await.status(), 200);
    assert!(!app.table().keys().any(|(pk, _)| pk.contains(&id) || pk.contains(&ada.user_id)), "nothing is left of both");
}

#[tokio::test]
async fn a_project_sets_how_many_teams_a_user_creates() {
    let (app, ada) = world(2).await;
    let caller = app.signed_in(&ada);
    create(&caller).await;
    create(&caller).await;
    assert_full(&caller, 2).await;
    app.configure(json!({ "config": { "max_teams_per_user": 3 } })).await;
    create(&caller).await;
    // No teams are removed when the limit is lowered.
    app.configure(json!({ "config": { "max_teams_per_user": 1 } })).await;
    assert_full(&caller, 1).await;
    app.configure(json!({ "config": { "max_teams_per_user": 0 } })).await;
    assert_error(&caller.post(TEAMS, json!({ "display_name": "One more" })).await, 403, "TEAM_CREATION_NOT_ENABLED");
    for (key, place) in [("max_teams_per_user", "config.max_teams_per_user"), ("teams", "body.config")] {
        let answer = app.admin().patch("/api/v1/internal/projects/current", json!({ "config": { key: 201 } })).await;
        assert!(answer.code() == "SCHEMA_ERROR" && answer.text().contains(place), "{}", answer.text());
    }
}

/// Teams from earlier versions do not contain their creator, and do not belong to any creator's set
/// of teams.
#[tokio::test]
async fn teams_of_earlier_versions_do_not_count_and_can_be_deleted() {
    let (app, ada) = world(1).await;
    let old = team(&app, "Old", Some(&ada)).await;
    let stored = app.table().into_iter().find(|((pk, sk), _)| pk.contains(&old) && sk == "TEAM").unwrap().1;
    assert_eq!(stored["d"]["M"]["founder"], Value::Null);
    let caller = app.signed_in(&ada);
    create(&caller).await;
    assert_full(&caller, 1).await;
    assert_eq!(caller.delete(&format!("{TEAMS}/{old}")).await.status(), 200);
    assert_full(&caller, 1).await;
}
