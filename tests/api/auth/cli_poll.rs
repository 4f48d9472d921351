//! `POST /api/v1/auth/cli/poll`.

use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::{Answer, SignedInUser, TestApp};

use super::cli_complete::complete;
use super::cli_create::start;
use super::{assert_error, assert_takes_client_access};

const PATH: &str = "/api/v1/auth/cli/poll";
const ME: &str = "/api/v1/users/me";

pub(super) async fn poll(app: &TestApp, polling_code: &str) -> Answer {
    app.client().post(PATH, json!({ "polling_code": polling_code })).await
}

pub(super) async fn status(app: &TestApp, polling_code: &str) -> Value {
    let answer = poll(app, polling_code).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert_eq!(answer.json().as_object().unwrap().len(), 1, "{}", answer.text());
    answer.json()["status"].clone()
}

/// Fetches a tool's session once the sign-in is confirmed.
pub(super) async fn fetch(app: &TestApp, polling_code: &str) -> SignedInUser {
    let answer = poll(app, polling_code).await;
    assert_eq!((answer.status(), &answer.json()["status"]), (201, &json!("success")), "{}", answer.text());
    let refresh_token = answer.json()["refresh_token"].as_str().unwrap().to_owned();
    let refreshed = app.client().with("x-stack-refresh-token", &refresh_token).request("POST", "/api/v1/auth/sessions/current/refresh");
    let access_token = refreshed.send().await.json()["access_token"].as_str().unwrap().to_owned();
    SignedInUser { email: String::new(), user_id: String::new(), access_token, refresh_token }
}

#[tokio::test]
async fn a_tool_waits_until_its_sign_in_is_confirmed_and_fetches_its_session_once() {
    let app = TestApp::start().await;
    assert_takes_client_access(&app, "POST", PATH).await;
    let ada = app.sign_up("ada@example.com").await;
    let (polling, login) = start(&app, json!({})).await;
    assert_eq!(status(&app, &polling).await, "waiting");
    assert_eq!(complete(&app, &login, &ada.refresh_token).await.json(), json!({ "success": true }));
    let tool = fetch(&app, &polling).await;
    assert_eq!(app.signed_in(&tool).get(ME).await.json()["id"], json!(ada.user_id));
    assert_ne!(tool.refresh_token, ada.refresh_token);
    assert_eq!(status(&app, &polling).await, "used");
    app.advance(SignedDuration::from_mins(16));
    assert_eq!(status(&app, &polling).await, "used", "even after the codes have expired");
}

#[tokio::test]
async fn the_session_of_the_tool_is_listed_and_ended_alone() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let (polling, login) = start(&app, json!({})).await;
    complete(&app, &login, &ada.refresh_token).await;
    let tool = fetch(&app, &polling).await;
    let sessions = app.signed_in(&ada).get("/api/v1/auth/sessions").await.json();
    assert_eq!(sessions["items"].as_array().unwrap().len(), 2, "{sessions}");
    assert_eq!(app.signed_in(&tool).delete("/api/v1/auth/sessions/current").await.status(), 200);
    assert_eq!(app.signed_in(&tool).get(ME).await.status(), 401);
    assert_eq!(app.signed_in(&ada).get(ME).await.status(), 200);
}

#[tokio::test]
async fn unknown_codes_foreign_codes_and_login_codes_poll_nothing() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let (polling, login) = start(&app, json!({})).await;
    complete(&app, &login, &ada.refresh_token).await;
    for wrong in [login.as_str(), "", "short", &"0".repeat(45), &"é".repeat(45)] {
        assert_error(&poll(&app, wrong).await, 400, "INVALID_POLLING_CODE");
    }
    let other = app.another_project().await;
    let elsewhere = app.client_of(&other).post(PATH, json!({ "polling_code": polling })).await;
    assert_error(&elsewhere, 400, "INVALID_POLLING_CODE");
    fetch(&app, &polling).await;
}

#[tokio::test]
async fn a_sign_in_that_was_confirmed_but_not_fetched_expires() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let (polling, login) = start(&app, json!({ "expires_in_millis": 30_000 })).await;
    complete(&app, &login, &ada.refresh_token).await;
    app.advance(SignedDuration::from_secs(30));
    assert_eq!(status(&app, &polling).await, "expired");
    app.advance(SignedDuration::from_hours(2));
    app.delete_expired().await;
    assert_error(&poll(&app, &polling).await, 400, "INVALID_POLLING_CODE");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_polls_one_fetches_the_session() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for _ in 0..10 {
        let (polling, login) = start(&app, json!({})).await;
        complete(&app, &login, &ada.refresh_token).await;
        let answers = tokio::join!(poll(&app, &polling), poll(&app, &polling), poll(&app, &polling));
        let mut found = [answers.0, answers.1, answers.2].map(|answer| answer.json()["status"].as_str().unwrap().to_owned());
        found.sort();
        assert_eq!(found, ["success", "used", "used"]);
    }
    let sessions = app.signed_in(&ada).get("/api/v1/auth/sessions").await.json();
    assert_eq!(sessions["items"].as_array().unwrap().len(), 11);
}

#[tokio::test]
async fn a_confirmation_ends_with_a_sign_out_a_password_change_or_a_restriction() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let bob = app.sign_up("bob@example.com").await;
    let eve = app.sign_up("eve@example.com").await;
    for (user, end) in [(&ada, "sign-out"), (&bob, "password"), (&eve, "restriction")] {
        let (polling, login) = start(&app, json!({})).await;
        complete(&app, &login, &user.refresh_token).await;
        let done = match end {
            "sign-out" => app.signed_in(user).delete("/api/v1/auth/sessions/current").await,
            "password" => {
                let change = json!({ "old_password": "correct horse battery", "new_password": "another horse battery" });
                app.signed_in(user).post("/api/v1/auth/password/update", change).await
            }
            _ => {
                let restrict = json!({ "restricted_by_admin": true, "restricted_by_admin_reason": "spam" });
                app.server().patch(&format!("/api/v1/users/{}", user.user_id), restrict).await
            }
        };
        assert_eq!(done.status(), 200, "{end}: {}", done.text());
        assert_eq!(status(&app, &polling).await, "expired", "{end}");
    }
}

#[tokio::test]
async fn the_session_of_a_tool_ends_with_all_sessions() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let (polling, login) = start(&app, json!({})).await;
    complete(&app, &login, &ada.refresh_token).await;
    let tool = fetch(&app, &polling).await;
    assert_eq!(app.signed_in(&ada).delete("/api/v1/auth/sessions?include_current=true").await.status(), 200);
    assert_eq!(app.signed_in(&tool).get(ME).await.status(), 401);
}

#[tokio::test]
async fn the_session_of_a_tool_lasts_no_longer_than_a_confirming_impersonation() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let short = json!({ "user_id": ada.user_id, "expires_in_millis": 120_000, "is_impersonation": true });
    let acting = app.server().post("/api/v1/auth/sessions", short).await.json();
    let (polling, login) = start(&app, json!({})).await;
    complete(&app, &login, acting["refresh_token"].as_str().unwrap()).await;
    let tool = fetch(&app, &polling).await;
    let listed = app.signed_in(&ada).get("/api/v1/auth/sessions").await.json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "impersonations are hidden from the user");
    app.advance(SignedDuration::from_secs(121));
    let refresh = app.client().with("x-stack-refresh-token", &tool.refresh_token).request("POST", "/api/v1/auth/sessions/current/refresh");
    assert_error(&refresh.send().await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test]
async fn the_session_of_a_tool_is_no_fresher_than_the_one_that_confirmed_it() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "reauthentication_max_age_seconds": 600 } })).await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_mins(11));
    let (polling, login) = start(&app, json!({})).await;
    complete(&app, &login, &ada.refresh_token).await;
    let tool = fetch(&app, &polling).await;
    let change = json!({ "old_password": "correct horse battery", "new_password": "another horse battery" });
    let refused = app.signed_in(&tool).post("/api/v1/auth/password/update", change).await;
    assert_error(&refused, 403, "REAUTHENTICATION_REQUIRED");
}

#[tokio::test]
async fn polls_of_one_code_and_of_unknown_codes_are_limited() {
    let limits = Limits::off().with(Rule::CliPoll, Some(Rate::new(3, 600))).with(Rule::TokenUnknown, Some(Rate::new(2, 600)));
    let app = TestApp::start_with(limits).await;
    let (polling, _) = start(&app, json!({})).await;
    for _ in 0..3 {
        assert_eq!(status(&app, &polling).await, "waiting");
    }
    assert_error(&poll(&app, &polling).await, 429, "RATE_LIMITED");
    for _ in 0..2 {
        assert_error(&poll(&app, &"0".repeat(45)).await, 400, "INVALID_POLLING_CODE");
    }
    assert_error(&poll(&app, &"1".repeat(45)).await, 429, "RATE_LIMITED");
}
