//! `POST /api/v1/auth/sessions/current/refresh`.

use jiff::SignedDuration;
use serde_json::json;
use support::{Caller, SignedInUser, TestApp};

use super::{assert_error, assert_takes_client_access, opens_own_data, problems};
use crate::stored;

const PATH: &str = "/api/v1/auth/sessions/current/refresh";

/// A client with a refresh token but no access token.
fn with_refresh_token(app: &TestApp, token: &str) -> Caller {
    app.client().with("x-stack-refresh-token", token)
}

async fn refresh(app: &TestApp, user: &SignedInUser) -> support::Answer {
    with_refresh_token(app, &user.refresh_token).post(PATH, json!({})).await
}

#[tokio::test]
async fn a_refresh_token_can_be_used_repeatedly() {
    let app = TestApp::start().await;
    let mut ada = app.sign_up("ada@example.com").await;
    for _ in 0..3 {
        app.advance(SignedDuration::from_mins(11));
        assert!(!opens_own_data(&app, &ada).await, "the access token is valid after 11 minutes");
        let answer = refresh(&app, &ada).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        assert_eq!(answer.json().as_object().unwrap().keys().collect::<Vec<_>>(), ["access_token"]);
        ada.access_token = answer.json()["access_token"].as_str().unwrap().to_owned();
        assert!(opens_own_data(&app, &ada).await);
    }
}

#[tokio::test]
async fn the_body_is_optional() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let answer = with_refresh_token(&app, &ada.refresh_token).request("POST", PATH).send().await;
    assert_eq!(answer.status(), 200);
}

#[tokio::test]
async fn unknown_and_foreign_tokens_are_rejected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for token in ["0".repeat(45), "x".to_owned(), ada.refresh_token.to_uppercase(), ada.access_token.clone()] {
        let answer = with_refresh_token(&app, &token).post(PATH, json!({})).await;
        assert_error(&answer, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    }
    let other = app.another_project().await;
    let elsewhere = app.client_of(&other).with("x-stack-refresh-token", &ada.refresh_token).post(PATH, json!({})).await;
    assert_error(&elsewhere, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test]
async fn a_token_that_only_selects_a_session_is_rejected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let (ids, proof) = ada.refresh_token.split_at(64);
    let other = app.sign_in("ada@example.com").await.refresh_token;
    for token in [format!("{ids}{}", &other[64..]), format!("{ids}{}", "0".repeat(26)), ids.to_owned(), proof.to_owned()] {
        let answer = with_refresh_token(&app, &token).post(PATH, json!({})).await;
        assert_error(&answer, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    }
    assert_eq!(refresh(&app, &ada).await.status(), 200);
}

#[tokio::test]
async fn sessions_of_earlier_versions_keep_working() {
    for is_oldest in [false, true] {
        older_sessions_work(is_oldest).await;
    }
}

async fn older_sessions_work(is_oldest: bool) {
    let app = TestApp::start().await;
    let older = |user: SignedInUser| SignedInUser { refresh_token: stored::older_token(&user.refresh_token), ..user };
    let ada = older(app.sign_up("ada@example.com").await);
    app.advance(SignedDuration::from_secs(1));
    let second = older(app.sign_in("ada@example.com").await);
    stored::older_sessions(&app, is_oldest);
    app.advance(SignedDuration::from_secs(1));
    let newer = app.sign_in("ada@example.com").await;
    for user in [&ada, &second, &newer] {
        assert_eq!(refresh(&app, user).await.status(), 200);
        let form = [("grant_type", "refresh_token"), ("client_id", app.project_id().as_str()), ("refresh_token", &*user.refresh_token)];
        let exchanged = app.anonymous().request("POST", "/api/v1/auth/oauth/token").form(&form).send().await;
        assert_eq!(exchanged.status(), 200, "{}", exchanged.text());
    }
    let sessions = app.signed_in(&newer).get("/api/v1/auth/sessions").await.json();
    let id = sessions["items"][1]["id"].as_str().unwrap();
    assert_eq!(app.server().delete(&format!("/api/v1/auth/sessions/{id}")).await.status(), 200);
    assert_error(&refresh(&app, &second).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    assert_eq!(refresh(&app, &ada).await.status(), 200);
}

#[tokio::test]
async fn a_missing_refresh_token_is_a_schema_error() {
    let app = TestApp::start().await;
    let answer = app.client().post(PATH, json!({})).await;
    assert_eq!(problems(&answer).len(), 1);
    assert!(problems(&answer)[0].starts_with("headers.x-service-refresh-token "));
}

#[tokio::test]
async fn a_session_ends_after_30_days_without_use() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_hours(30 * 24) - SignedDuration::from_millis(1));
    assert_eq!(refresh(&app, &ada).await.status(), 200);
    app.advance(SignedDuration::from_hours(30 * 24) - SignedDuration::from_millis(1));
    assert_eq!(refresh(&app, &ada).await.status(), 200, "a refresh extends the session");
    app.advance(SignedDuration::from_hours(30 * 24));
    assert_error(&refresh(&app, &ada).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test]
async fn a_session_ends_after_365_days_despite_use() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for _ in 0..18 {
        app.advance(SignedDuration::from_hours(20 * 24));
        assert_eq!(refresh(&app, &ada).await.status(), 200);
    }
    app.advance(SignedDuration::from_hours(5 * 24));
    assert_error(&refresh(&app, &ada).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test]
async fn session_lifetimes_are_configurable() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "session_max_age_seconds": 900, "session_max_idle_seconds": 400 } })).await;
    let (used, idle) = (app.sign_up("ada@example.com").await, app.sign_in("ada@example.com").await);
    app.advance(SignedDuration::from_secs(399));
    assert_eq!(refresh(&app, &used).await.status(), 200);
    app.advance(SignedDuration::from_secs(1));
    assert_error(&refresh(&app, &idle).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    app.advance(SignedDuration::from_secs(300));
    assert_eq!(refresh(&app, &used).await.status(), 200);
    app.advance(SignedDuration::from_secs(200));
    assert_error(&refresh(&app, &used).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test]
async fn an_ended_session_issues_no_access_tokens() {
    let app = TestApp::start().await;
    let (gone, kept) = (app.sign_up("ada@example.com").await, app.sign_in("ada@example.com").await);
    assert_eq!(app.signed_in(&gone).delete("/api/v1/auth/sessions/current").await.status(), 200);
    assert_error(&refresh(&app, &gone).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    assert_eq!(refresh(&app, &kept).await.status(), 200);

    stored::change_user(&app, &kept, |user| user.end_sessions(None)).await;
    assert_error(&refresh(&app, &kept).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    let new = app.sign_in("ada@example.com").await;
    assert_eq!(refresh(&app, &new).await.status(), 200);
}

#[tokio::test]
async fn a_deleted_user_has_no_sessions() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    stored::delete_user(&app, &ada).await;
    assert_error(&refresh(&app, &ada).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test]
async fn the_next_access_token_reflects_changes() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.configure(json!({ "config": { "require_email_verification": true } })).await;
    let access_token = refresh(&app, &ada).await.json()["access_token"].as_str().unwrap().to_owned();
    let restricted = app.signed_in(&SignedInUser { access_token, ..ada });
    let details = assert_error(&restricted.get("/api/v1/users/me").await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    assert_eq!(details, json!({ "restricted_reason": { "type": "email_not_verified" } }));
    for allowing in ["x-stack-allow-restricted-user", "x-stack-allow-anonymous-user"] {
        assert_eq!(restricted.clone().with(allowing, "true").get("/api/v1/users/me").await.status(), 200);
        assert_eq!(restricted.clone().with(allowing, "TRUE").get("/api/v1/users/me").await.status(), 403);
    }
}

#[tokio::test]
async fn client_access_is_required() {
    let app = TestApp::start().await;
    assert_takes_client_access(&app, "POST", PATH).await;
    let ada = app.sign_up("ada@example.com").await;
    let server = app.server().with("x-stack-refresh-token", &ada.refresh_token);
    assert_eq!(server.post(PATH, json!({})).await.status(), 200);
}

/// A token from a session that has ended must not make its user look active.
#[tokio::test]
async fn only_a_live_session_counts_as_activity() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "session_max_idle_seconds": 86_400 } })).await;
    let ada = app.sign_up("ada@example.com").await;
    let path = format!("/api/v1/users/{}", ada.user_id);
    let active = async || app.server().get(&path).await.json()["last_active_at_millis"].as_i64().unwrap();
    for end in ["sign-out", "sign-out everywhere", "idle", "kept"] {
        let (user, other) = (app.sign_in("ada@example.com").await, app.sign_in("ada@example.com").await);
        app.advance(SignedDuration::from_mins(1));
        assert_eq!(refresh(&app, &user).await.status(), 200, "{end}");
        let before = active().await;
        assert_eq!(before, app.now().as_millisecond(), "{end}");
        app.advance(SignedDuration::from_mins(1));
        let ended = match end {
            "sign-out" => app.signed_in(&user).delete("/api/v1/auth/sessions/current").await.status(),
            "sign-out everywhere" => app.server().delete(&format!("/api/v1/auth/sessions?user_id={}", ada.user_id)).await.status(),
            "idle" => {
                app.advance(SignedDuration::from_hours(25));
                200
            }
            _ => app.signed_in(&other).delete("/api/v1/auth/sessions?user_id=me").await.status(),
        };
        assert_eq!(ended, 200, "{end}");
        assert_error(&refresh(&app, &user).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
        assert_eq!(active().await, before, "{end}");
        if end == "kept" {
            assert_eq!(refresh(&app, &other).await.status(), 200);
            assert_eq!(active().await, app.now().as_millisecond(), "the kept session is live");
        }
    }
}
