//! `POST /api/v1/auth/cli`.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use support::TestApp;

use super::{assert_error, assert_takes_client_access};

pub(super) const PATH: &str = "/api/v1/auth/cli";

/// Starts the sign-in of a tool. Returns the polling code and the login code.
pub(crate) async fn start(app: &TestApp, body: Value) -> (String, String) {
    let answer = app.client().post(PATH, body).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let text = |name: &str| answer.json()[name].as_str().unwrap().to_owned();
    (text("polling_code"), text("login_code"))
}

/// Signs up an anonymous user, like a tool that works before its user signs in.
pub(super) async fn anonymous(app: &TestApp) -> Value {
    let answer = app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

#[tokio::test]
async fn a_sign_in_has_two_codes_and_waits_for_fifteen_minutes() {
    let app = TestApp::start().await;
    assert_takes_client_access(&app, "POST", PATH).await;
    let answer = app.client().request("POST", PATH).send().await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let body = answer.json();
    let (polling, login) = (body["polling_code"].as_str().unwrap(), body["login_code"].as_str().unwrap());
    assert_eq!((polling.len(), login.len()), (45, 45));
    assert_ne!(polling, login);
    let expires_at: Timestamp = body["expires_at"].as_str().unwrap().parse().unwrap();
    assert_eq!(expires_at.as_second(), app.now().as_second() + 15 * 60);
    let stored = format!("{:?}", app.table());
    assert!(!stored.contains(polling) && !stored.contains(login), "the table has the digests only");
}

#[tokio::test]
async fn a_lifetime_is_raised_to_30_seconds_or_lowered_to_15_minutes() {
    let app = TestApp::start().await;
    for (millis, seconds) in [(1_i64, 30), (60_000, 60), (86_400_000, 900), (i64::MAX, 900)] {
        let answer = app.client().post(PATH, json!({ "expires_in_millis": millis })).await;
        let expires_at: Timestamp = answer.json()["expires_at"].as_str().unwrap().parse().unwrap();
        assert_eq!(expires_at.as_second() - app.now().as_second(), seconds, "{millis}");
    }
    for wrong in
        [json!({ "expires_in_millis": 0 }), json!({ "expires_in_millis": -1 }), json!({ "anon_refresh_token": 1 }), json!({ "x": 1 })]
    {
        assert_error(&app.client().post(PATH, wrong).await, 400, "SCHEMA_ERROR");
    }
}

#[tokio::test]
async fn an_attached_session_must_be_live_anonymous_and_of_the_project() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let refused = app.client().post(PATH, json!({ "anon_refresh_token": ada.refresh_token })).await;
    assert_error(&refused, 400, "CLI_SESSION_NOT_ANONYMOUS");
    let nobody = anonymous(&app).await;
    let other = app.another_project().await;
    let elsewhere = app.client_of(&other).post(PATH, json!({ "anon_refresh_token": nobody["refresh_token"] })).await;
    assert_error(&elsewhere, 400, "INVALID_REFRESH_TOKEN");
    for unknown in [json!(""), json!("no token")] {
        assert_error(&app.client().post(PATH, json!({ "anon_refresh_token": unknown })).await, 400, "INVALID_REFRESH_TOKEN");
    }
    start(&app, json!({ "anon_refresh_token": nobody["refresh_token"] })).await;
    app.advance(SignedDuration::from_hours(24 * 400));
    let ended = app.client().post(PATH, json!({ "anon_refresh_token": nobody["refresh_token"] })).await;
    assert_error(&ended, 400, "INVALID_REFRESH_TOKEN");
}
