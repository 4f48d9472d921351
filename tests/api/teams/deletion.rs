//! Deleting a team or user leaves no memberships behind, no matter how many there are or where the
//! deletion is interrupted.

use model::permission::Grant;
use model::team::{Member, Team};
use model::user::User;
use serde_json::{Value, json};
use store::team::deletion::Deletion;
use store::team::membership::{self, MemberRow};
use store::{team as teams, user};
use support::{SignedInUser, TestApp, refused};
use wire::entropy::Entropy;
use wire::id::{TeamId, UserId};

use super::{TEAMS, assert_error, ids, join, members_of, membership, team, teams_of};

/// The teams and memberships that are left in the table.
fn left(app: &TestApp) -> Vec<(String, String)> {
    let is_one = |(pk, sk): &(String, String)| pk.starts_with("T#") || (pk.starts_with("U#") && sk.starts_with("TEAM#"));
    app.table().into_keys().filter(is_one).collect()
}

/// Creates users and adds them to a team with direct writes, because hundreds of requests would
/// take too long. Every third user has selected the team. Returns the users' ids.
async fn fill(app: &TestApp, team: &str, count: usize) -> Vec<String> {
    let (project, entropy, team) = (app.project_id(), &app.app.entropy, TeamId::parse(team).unwrap());
    let mut all = Vec::new();
    for index in 0..count {
        let mut user = User { id: UserId::from(entropy.uuid()), ..User::new(entropy, app.now()) };
        let is_selected = index % 3 == 0;
        user.selected_team_id = is_selected.then_some(team);
        let mut writes = vec![user::create(project, &user).unwrap(), teams::join(project, team)];
        let grants = [Grant("2".to_owned())].into();
        writes.extend(
            membership::create(project, &user, &MemberRow::new(team, user.id, Member::new(app.now()), grants).selected(is_selected))
                .unwrap(),
        );
        app.app.store.transact(writes).await.unwrap();
        all.push(user.id.to_string());
    }
    all
}

async fn assert_is_gone(app: &TestApp, id: &str, users: &[String]) {
    assert_eq!(left(app), []);
    assert_error(&app.server().get(&format!("{TEAMS}/{id}")).await, 404, "TEAM_NOT_FOUND");
    for user in users.iter().step_by(37) {
        assert_eq!(app.server().get(&format!("/api/v1/users/{user}")).await.json()["selected_team_id"], Value::Null);
    }
}

#[tokio::test]
async fn a_picture_uploaded_during_the_deletion_is_deleted_too() {
    let app = TestApp::start().await;
    let id = team(&app, "Engines", None).await;
    let (store, project, id) = (&app.app.store, app.project_id(), TeamId::parse(&id).unwrap());
    let first = store.doomed(project, id).await.unwrap();
    let picture = json!({ "profile_image_url": "data:image/gif;base64,R0lGODlhAQABAAAAACw=" });
    assert_eq!(app.server().patch(&format!("{TEAMS}/{id}"), picture).await.status(), 200);
    assert_eq!(store.delete_team(project, id, None, first, app.now()).await.unwrap(), Deletion::Done);
    assert_eq!(left(&app), []);
}

#[tokio::test]
async fn a_permitted_member_can_delete_a_team_with_its_memberships() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let id = team(&app, "Engines", Some(&ada)).await;
    join(&app, &id, &bob.user_id).await;
    let path = format!("{TEAMS}/{id}");
    assert_error(&app.signed_in(&bob).delete(&path).await, 401, "TEAM_PERMISSION_REQUIRED");
    assert_eq!(members_of(&app, &id).await.len(), 2);
    assert_eq!(app.signed_in(&ada).delete(&path).await.status(), 200);
    assert_is_gone(&app, &id, &[]).await;
    assert!(teams_of(&app, &ada.user_id).await.is_empty());
    assert!(ids(&app.server().get(TEAMS).await).is_empty());
    assert_error(&app.server().delete(&path).await, 404, "TEAM_NOT_FOUND");
}

#[tokio::test]
async fn a_team_larger_than_a_transaction_can_be_deleted() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = team(&app, "Engines", Some(&ada)).await;
    let users = fill(&app, &id, 250).await;
    assert_eq!(app.signed_in(&ada).delete(&format!("{TEAMS}/{id}")).await.status(), 200);
    assert_is_gone(&app, &id, &users).await;
}

#[tokio::test]
async fn an_interrupted_team_deletion_hides_the_team_and_resumes_on_retry() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut interrupted = 0;
    // In each round, a later write fails, until the request succeeds.
    for write in 0.. {
        let id = team(&app, "Engines", Some(&ada)).await;
        let users = fill(&app, &id, 60).await;
        let path = format!("{TEAMS}/{id}");
        app.recorder.clear();
        app.recorder.break_writes(write, usize::MAX, refused("AccessDeniedException"));
        let answer = app.signed_in(&ada).delete(&path).await;
        app.recorder.clear();
        if answer.status() == 200 {
            break;
        }
        interrupted += 1;
        assert_eq!(answer.status(), 500, "{}", answer.text());
        if write > 0 {
            assert_error(&app.server().get(&path).await, 404, "TEAM_NOT_FOUND");
            assert_error(&app.server().post(&membership(&id, &users[0]), json!({})).await, 404, "TEAM_NOT_FOUND");
            assert!(teams_of(&app, &users[59]).await.is_empty());
        }
        let again = app.signed_in(&ada).delete(&path).await;
        assert_eq!(again.status(), 200, "after write {write}: {}", again.text());
        assert_is_gone(&app, &id, &users).await;
    }
    assert!(interrupted >= 3, "{interrupted}");
}

#[tokio::test]
async fn a_user_is_deleted_with_all_memberships_despite_interruptions() {
    let app = TestApp::start().await;
    for teams in [3, 150] {
        for interrupted in [false, true] {
            let user = app.sign_up(&format!("u{teams}{interrupted}@example.com")).await;
            let others = join_many(&app, &user, teams).await;
            let path = format!("/api/v1/users/{}", user.user_id);
            if interrupted {
                app.recorder.break_writes(1, usize::MAX, refused("AccessDeniedException"));
                let answer = app.server().delete(&path).await;
                app.recorder.clear();
                assert_eq!(answer.status(), if teams > 10 { 500 } else { 200 }, "{teams}: {}", answer.text());
                if answer.status() == 500 {
                    assert_eq!(app.server().get(&path).await.status(), 200);
                    assert_eq!(app.server().delete(&path).await.status(), 200);
                }
            } else {
                assert_eq!(app.server().delete(&path).await.status(), 200);
            }
            assert_error(&app.server().get(&path).await, 404, "USER_NOT_FOUND");
            let of_user: Vec<_> = left(&app).into_iter().filter(|(pk, sk)| format!("{pk}{sk}").contains(&user.user_id)).collect();
            assert_eq!(of_user, []);
            assert!(members_of(&app, &others[0]).await.is_empty());
        }
    }
}

/// Creates teams, and adds the user to each team with direct writes.
async fn join_many(app: &TestApp, user: &SignedInUser, count: usize) -> Vec<String> {
    let (project, entropy): (_, &Entropy) = (app.project_id(), &app.app.entropy);
    let member = app.app.store.user(project, UserId::parse(&user.user_id).unwrap()).await.unwrap().unwrap().user;
    let mut all = Vec::new();
    for _ in 0..count {
        let team = Team::new(TeamId::from(entropy.uuid()), "Engines".to_owned(), app.now());
        let mut writes = vec![teams::create(project, &team).unwrap(), membership::joins(project, member.id)];
        writes
            .extend(membership::create(project, &member, &MemberRow::new(team.id, member.id, Member::new(app.now()), [].into())).unwrap());
        app.app.store.transact(writes).await.unwrap();
        all.push(team.id.to_string());
    }
    all
}

#[tokio::test]
async fn an_abandoned_deletion_is_finished_by_the_worker() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = team(&app, "Engines", Some(&ada)).await;
    let users = fill(&app, &id, 60).await;
    let many = app.sign_up("many@example.com").await;
    join_many(&app, &many, 150).await;
    for path in [format!("{TEAMS}/{id}"), format!("/api/v1/users/{}", many.user_id)] {
        app.recorder.break_writes(2, usize::MAX, refused("AccessDeniedException"));
        assert_eq!(app.server().delete(&path).await.status(), 500);
        app.recorder.clear();
    }
    assert_eq!(app.end_deletions().await, 0, "the worker waits, as the original caller may retry");
    app.advance(jiff::SignedDuration::from_secs(31));
    assert_eq!((app.end_deletions().await, app.end_deletions().await), (2, 0));
    assert_error(&app.server().get(&format!("/api/v1/users/{}", many.user_id)).await, 404, "USER_NOT_FOUND");
    let of_both: Vec<_> =
        left(&app).into_iter().filter(|(pk, sk)| pk.contains(&id) || format!("{pk}{sk}").contains(&many.user_id)).collect();
    assert_eq!(of_both, []);
    assert_error(&app.server().get(&format!("{TEAMS}/{id}")).await, 404, "TEAM_NOT_FOUND");
    assert!(teams_of(&app, &users[0]).await.is_empty());
}
