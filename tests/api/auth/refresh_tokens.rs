//! Refresh tokens: which session they open, how often, and those of earlier versions.

use futures_util::future::join_all;
use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::{SignedIn, TestApp};

use super::assert_error;
use crate::stored;

const REFRESH: &str = "/api/v1/auth/sessions/current/refresh";
const TOKEN: &str = "/api/v1/auth/oauth/token";
const SESSIONS: &str = "/api/v1/auth/sessions";
/// The length of the ids at the beginning of a token.
const IDS: usize = 64;

/// The statuses of both ways to use a refresh token.
async fn statuses(app: &TestApp, token: &str) -> [u16; 2] {
    let exchange = json!({ "grant_type": "refresh_token", "client_id": app.project_id().as_str(), "refresh_token": token });
    let refresh = app.client().with("x-stack-refresh-token", token).post(REFRESH, json!({})).await;
    [refresh.status(), app.anonymous().post(TOKEN, exchange).await.status()]
}

async fn session_ids(app: &TestApp, user: &SignedIn) -> Vec<String> {
    let list = app.signed_in(user).get(&format!("{SESSIONS}?user_id=me")).await.json();
    list["items"].as_array().unwrap().iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect()
}

/// The units that the user's own partition is written in: the keys of the updates.
fn updated(app: &TestApp) -> Vec<String> {
    let keys = app.recorder.writes().into_iter().map(|(_, body)| serde_json::from_str::<Value>(&body).unwrap()["Key"]["sk"].clone());
    let mut keys: Vec<String> = keys.filter_map(|key| key["S"].as_str().map(|key| key.split('#').next().unwrap().to_owned())).collect();
    keys.sort();
    keys
}

#[tokio::test]
async fn a_refresh_token_opens_only_its_own_session() {
    let app = TestApp::start().await;
    let (ada, again, bob) =
        (app.sign_up("ada@example.com").await, app.sign_in("ada@example.com").await, app.sign_up("bob@example.com").await);
    let (own, ids_and_secret) = (&ada.refresh_token, |of: &SignedIn| of.refresh_token.split_at(IDS).0.to_owned());
    let secret = &own[IDS..];
    for forged in [
        format!("{}{secret}", ids_and_secret(&again)),
        format!("{}{secret}", ids_and_secret(&bob)),
        format!("{}{secret}", "0".repeat(IDS)),
        format!("{}{}", &own[..IDS], "0".repeat(45)),
        format!("{}{}{secret}", &bob.refresh_token[..32], &own[32..IDS]),
        own[..IDS].to_owned(),
        secret.to_owned(),
    ] {
        assert_eq!(statuses(&app, &forged).await, [401; 2], "{forged}");
    }
    assert_eq!(statuses(&app, own).await, [200; 2]);
    assert!(!format!("{:?}", app.table()).contains(secret), "the table contains a token in the clear");
}

#[tokio::test]
async fn sessions_and_tokens_of_an_earlier_version_keep_working() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let [id] = <[String; 1]>::try_from(session_ids(&app, &ada).await).unwrap();
    let token = stored::age_session(&app, &ada, &id).await;
    assert_eq!(token.len(), 45);
    assert_eq!(statuses(&app, &token).await, [200; 2]);
    assert_eq!(statuses(&app, &ada.refresh_token).await, [401; 2], "the session no longer has this token");
    assert_eq!(app.signed_in(&ada).get("/api/v1/users/me").await.status(), 200);
    // A server need not name the user, whose session is found by the claim.
    assert_eq!(app.server().delete(&format!("{SESSIONS}/{id}")).await.status(), 200);
    assert_eq!(statuses(&app, &token).await, [401; 2]);
    assert_error(&app.server().delete(&format!("{SESSIONS}/{id}")).await, 404, "SESSION_NOT_FOUND");
}

#[tokio::test]
async fn tokens_of_an_earlier_version_have_the_same_limit() {
    let app = TestApp::start_with(Limits::off().with(Rule::Token, Some(Rate::new(3, 600)))).await;
    let ada = app.sign_up("ada@example.com").await;
    let id = session_ids(&app, &ada).await.remove(0);
    let token = stored::age_session(&app, &ada, &id).await;
    assert_eq!(statuses(&app, &token).await, [200; 2]);
    assert_eq!(statuses(&app, &token).await, [200, 429]);
}

#[tokio::test]
async fn concurrent_refreshes_are_limited_like_successive_ones() {
    let app = TestApp::start_with(Limits::off().with(Rule::Token, Some(Rate::new(5, 600)))).await;
    let ada = app.sign_up("ada@example.com").await;
    let client = app.signed_in(&ada);
    let refreshed = async |app: &TestApp| {
        let answers = join_all((0..12).map(|_| client.post(REFRESH, json!({})))).await;
        let count = |status: u16| answers.iter().filter(|answer| answer.status() == status).count();
        assert_eq!(count(200) + count(429), 12, "at {}", app.now());
        count(200)
    };
    assert_eq!(refreshed(&app).await, 5);
    // Two windows later, the first requests begin a window at the same time.
    app.advance(SignedDuration::from_secs(1200));
    let again = app.sign_in("ada@example.com").await;
    assert_eq!(statuses(&app, &again.refresh_token).await, [200; 2], "each session has a count of its own");
    let client = app.client().with("x-stack-refresh-token", &ada.refresh_token);
    let answers = join_all((0..12).map(|_| client.post(REFRESH, json!({})))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), 5);
}

#[tokio::test]
async fn a_session_records_the_activity_of_its_user_once_in_an_hour() {
    let app = TestApp::start_with(Limits::standard()).await;
    let ada = app.sign_up("ada@example.com").await;
    let client = app.client().with("x-stack-refresh-token", &ada.refresh_token);
    let hour = SignedDuration::from_hours(1);
    let to_next_hour = hour - SignedDuration::from_millis(app.now().as_millisecond() % i64::try_from(hour.as_millis()).unwrap());
    let at = async || {
        let user = app.server().get(&format!("/api/v1/users/{}", ada.user_id)).await.json();
        user["last_active_at_millis"].as_i64().unwrap()
    };
    let refreshed = async |expected: &[&str]| {
        app.recorder.clear();
        assert_eq!(client.post(REFRESH, json!({})).await.status(), 200);
        assert_eq!(updated(&app).into_iter().filter(|key| key != "ACTIVE" && !key.starts_with("DAY")).collect::<Vec<_>>(), expected);
    };
    refreshed(&["SESSION", "USER"]).await;
    let first = app.now().as_millisecond();
    app.advance(to_next_hour - SignedDuration::from_millis(1));
    refreshed(&["SESSION"]).await;
    assert_eq!(at().await, first);
    app.advance(SignedDuration::from_millis(1));
    refreshed(&["SESSION", "USER"]).await;
    assert_eq!(at().await, app.now().as_millisecond());
    let list = app.server().get(&format!("{SESSIONS}?user_id={}", ada.user_id)).await.json();
    assert_eq!(list["items"][0]["last_used_at"], app.now().as_millisecond());
}
