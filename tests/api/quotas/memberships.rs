//! The maximum number of teams that a user can join.

use futures_util::future::join_all;
use model::quota::Quota;
use serde_json::json;
use support::{Answer, Caller, SignedInUser, TestApp};

use super::count;
use crate::auth::assert_error;
use crate::teams::invitations::invite;
use crate::teams::{join, team};

const INVITATIONS: &str = "/api/v1/team-invitations";
const MAX: usize = Quota::Memberships.max();

/// A user whom a server has added to this many teams, and the last of these teams.
async fn member_of(teams: usize) -> (TestApp, SignedInUser, String) {
    let app = TestApp::start().await;
    let bob = app.sign_in_by_mail("bob@example.com").await;
    let mut last = String::new();
    for _ in 0..teams {
        last = team(&app, "Engines", None).await;
        join(&app, &last, &bob.user_id).await;
    }
    (app, bob, last)
}

async fn accept(caller: &Caller, invitation: &str, user: &str) -> Answer {
    caller.post(&format!("{INVITATIONS}/{invitation}/accept?user_id={user}"), json!({})).await
}

async fn invited(app: &TestApp) -> (String, String) {
    invite(app, &team(app, "Engines", None).await, "bob@example.com").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_user_belongs_to_200_teams_and_leaving_one_makes_room() {
    let (app, bob, last) = member_of(MAX - 1).await;
    let caller = app.signed_in(&bob);
    let mut invitations = Vec::new();
    for _ in 0..6 {
        invitations.push(invited(&app).await);
    }
    let answers = join_all(invitations.iter().map(|(id, _)| accept(&caller, id, "me"))).await;
    assert_eq!((count(&answers, 200), count(&answers, 400)), (1, 5));
    let refused = answers.iter().position(|answer| answer.status() == 400).unwrap();
    assert_error(&answers[refused], 400, "TOO_MANY_TEAM_MEMBERSHIPS");
    assert_eq!(answers[refused].json()["details"], json!({ "max": MAX }));
    let (id, code) = &invitations[refused];
    let by_code = async || caller.post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await;
    assert_error(&by_code().await, 400, "TOO_MANY_TEAM_MEMBERSHIPS");
    // The refused invitation can still be accepted later.
    assert_error(&accept(&caller, id, "me").await, 400, "TOO_MANY_TEAM_MEMBERSHIPS");
    assert_eq!(caller.delete(&format!("/api/v1/team-memberships/{last}/me")).await.status(), 200);
    assert_eq!(by_code().await.status(), 200);
    assert_error(&accept(&caller, &invited(&app).await.0, "me").await, 400, "TOO_MANY_TEAM_MEMBERSHIPS");
}

#[tokio::test]
async fn a_server_adds_a_user_to_more_teams_than_the_user_could_join() {
    let (app, bob, _) = member_of(MAX + 1).await;
    assert_error(&accept(&app.signed_in(&bob), &invited(&app).await.0, "me").await, 400, "TOO_MANY_TEAM_MEMBERSHIPS");
    assert_eq!(accept(&app.server(), &invited(&app).await.0, &bob.user_id).await.status(), 200);
}

/// Each acceptance changes the user, so the requests conflict with each other.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_user_accepts_several_invitations_at_the_same_time() {
    let (app, bob, _) = member_of(0).await;
    let mut invitations = Vec::new();
    for _ in 0..4 {
        invitations.push(invited(&app).await.0);
    }
    let caller = app.signed_in(&bob);
    let answers = join_all(invitations.iter().map(|id| accept(&caller, id, "me"))).await;
    assert_eq!(count(&answers, 200), 4, "{:?}", answers.iter().map(Answer::text).collect::<Vec<_>>());
}
