//! A team's unanswered invitations.

use futures_util::future::join_all;
use jiff::SignedDuration;
use model::quota::Quota;
use serde_json::json;
use support::{Answer, Caller, SignedInUser, TestApp};

use super::count;
use crate::auth::assert_error;
use crate::teams::invitations::invite;
use crate::teams::team;

const INVITATIONS: &str = "/api/v1/team-invitations";
const MAX: usize = Quota::Invitations.max();

async fn send(caller: &Caller, team: &str, number: usize) -> Answer {
    let email = format!("u{number}@example.com");
    let body = json!({ "team_id": team, "email": email, "callback_url": "http://localhost:3000/join" });
    caller.post(&format!("{INVITATIONS}/send-code"), body).await
}

/// A team with the maximum number of invitations. The sender sent these and a few more invitations
/// at the same time.
async fn full() -> (TestApp, SignedInUser, String, Vec<String>) {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let team = team(&app, "Engines", Some(&ada)).await;
    let caller = app.signed_in(&ada);
    let answers = join_all((0..MAX + 10).map(|number| send(&caller, &team, number))).await;
    assert_eq!((count(&answers, 200), count(&answers, 400)), (MAX, 10));
    let refused = answers.iter().find(|answer| answer.status() == 400).unwrap();
    assert_error(refused, 400, "TOO_MANY_INVITATIONS");
    assert_eq!(refused.json()["details"], json!({ "max": MAX }));
    let sent = answers.iter().filter(|answer| answer.status() == 200);
    let ids = sent.map(|answer| answer.json()["id"].as_str().unwrap().to_owned()).collect();
    (app, ada, team, ids)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_team_has_100_invitations_that_wait_and_an_answer_makes_room() {
    let (app, ada, team, ids) = full().await;
    let caller = app.signed_in(&ada);
    assert_eq!(caller.delete(&format!("{INVITATIONS}/{}?team_id={team}", ids[0])).await.status(), 200);
    assert_eq!(send(&caller, &team, 1000).await.status(), 200);
    assert_error(&send(&caller, &team, 1001).await, 400, "TOO_MANY_INVITATIONS");
    let bob = app.sign_in_by_mail("u1000@example.com").await;
    let waiting = app.signed_in(&bob).get(&format!("{INVITATIONS}?user_id=me")).await.json()["items"][0]["id"].clone();
    let accept = format!("{INVITATIONS}/{}/accept?user_id=me", waiting.as_str().unwrap());
    assert_eq!(app.signed_in(&bob).post(&accept, json!({})).await.status(), 200);
    assert_eq!(send(&caller, &team, 1002).await.status(), 200);
    assert_error(&send(&caller, &team, 1003).await, 400, "TOO_MANY_INVITATIONS");
    // Invitations by a server are unlimited, and do not count towards the quota.
    invite(&app, &team, "carol@example.com").await;
    assert_eq!(app.server().delete(&format!("/api/v1/teams/{team}")).await.status(), 200);
    assert!(!app.table().keys().any(|(pk, sk)| pk.starts_with("T#") && sk == "INVITED"), "the count goes with the team");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn invitations_that_expire_make_room() {
    let (app, _, team, _) = full().await;
    app.advance(SignedDuration::from_hours(7 * 24 + 1));
    let caller = app.signed_in(&app.sign_in("ada@example.com").await);
    for number in 0..3 {
        assert_eq!(send(&caller, &team, 2000 + number).await.status(), 200);
    }
}
