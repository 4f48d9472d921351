//! The email about a sign-in from a place that is new to the account.

use jiff::SignedDuration;
use serde_json::json;
use support::authenticator::send_assertion_as;
use support::{Answer, Caller, SignedInUser, TestApp};

use super::cli_complete::complete;
use super::cli_create::start as start_tool;
use super::mfa_sign_in::{attempt, now_code, user_with_app};
use super::oauth_callback::{TOKEN, ada, exchange_of, flow, parameter, start};

const ADA: &str = "ada@example.com";

fn from(app: &TestApp, address: &str, city: &str) -> Caller {
    let caller = app.client().with("cloudfront-viewer-address", &format!("{address}:4711"));
    if city.is_empty() { caller } else { caller.with("cloudfront-viewer-city", city).with("cloudfront-viewer-country", "PT") }
}

async fn sign_in(caller: &Caller) -> Answer {
    let answer = caller.post("/api/v1/auth/password/sign-in", json!({ "email": ADA, "password": "correct horse battery" })).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer
}

async fn notices(app: &TestApp) -> Vec<support::Mail> {
    app.mails(ADA).await.into_iter().filter(|mail| mail.0.subject.starts_with("New sign-in to ")).collect()
}

async fn signed_up(app: &TestApp, wants: bool) {
    app.configure(json!({ "config": { "new_sign_in_mails": wants } })).await;
    let body = json!({ "email": ADA, "password": "correct horse battery" });
    let answer = from(app, "203.0.113.7", "").post("/api/v1/auth/password/sign-up", body).await;
    assert_eq!(answer.status(), 200);
    verified(app, answer.json()["user_id"].as_str().unwrap()).await;
}

/// Only verified addresses are notified of sign-ins.
async fn verified(app: &TestApp, user: &str) {
    let patch = json!({ "primary_email_verified": true });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{user}"), patch).await.status(), 200);
}

#[tokio::test]
async fn only_sign_ins_from_new_places_are_notified() {
    let app = TestApp::start().await;
    signed_up(&app, true).await;
    assert!(notices(&app).await.is_empty(), "the first sign-in is not notified");
    sign_in(&from(&app, "203.0.113.99", "")).await;
    assert!(notices(&app).await.is_empty(), "a sign-in from a known network is not notified");
    sign_in(&from(&app, "198.51.100.1", "Lisbon")).await;
    let told = notices(&app).await;
    assert_eq!(told.len(), 1);
    for part in [&told[0].0.text, &told[0].0.html] {
        assert!(part.contains("1 January 2026, 12:00 UTC") && part.contains("198.51.100.1") && part.contains("Lisbon, PT"), "{part}");
    }
    sign_in(&from(&app, "192.0.2.1", "Lisbon")).await;
    assert_eq!(notices(&app).await.len(), 1, "a sign-in from a known city is not notified");
}

#[tokio::test]
async fn new_sign_in_notices_are_opt_in_per_project() {
    let app = TestApp::start().await;
    let setting = async || app.admin().get("/api/v1/internal/projects/current").await.json()["config"]["new_sign_in_mails"].clone();
    assert_eq!(setting().await, false);
    signed_up(&app, false).await;
    sign_in(&from(&app, "198.51.100.1", "")).await;
    assert!(notices(&app).await.is_empty());
    app.configure(json!({ "config": { "new_sign_in_mails": true } })).await;
    assert_eq!(setting().await, true);
    sign_in(&from(&app, "192.0.2.1", "")).await;
    assert_eq!(notices(&app).await.len(), 1);
}

#[tokio::test]
async fn a_code_sign_in_from_a_new_place_is_notified() {
    let app = TestApp::start().await;
    signed_up(&app, true).await;
    let code = app.sign_in_code(ADA).await;
    let answer = from(&app, "198.51.100.1", "").post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert_eq!(notices(&app).await.len(), 1);
}

#[tokio::test]
async fn oauth_and_totp_sign_ins_from_new_places_are_notified() {
    let (app, provider) = start().await;
    app.configure(json!({ "config": { "new_sign_in_mails": true } })).await;
    let code = parameter(&flow(&app, &provider, ada(), &[]).await, "code");
    assert_eq!(from(&app, "203.0.113.7", "").post(TOKEN, exchange_of(&app, &code)).await.status(), 200);
    assert!(notices(&app).await.is_empty(), "the first sign-in is not notified");
    let code = parameter(&flow(&app, &provider, ada(), &[]).await, "code");
    assert_eq!(from(&app, "198.51.100.1", "").post(TOKEN, exchange_of(&app, &code)).await.status(), 200);
    assert_eq!(notices(&app).await.len(), 1);

    let app = TestApp::start().await;
    app.configure(json!({ "config": { "new_sign_in_mails": true } })).await;
    let user = user_with_app(&app, ADA).await;
    verified(&app, &user.user_id).await;
    let body = json!({ "code": attempt(&app, ADA).await, "type": "totp", "totp": now_code(&app) });
    assert_eq!(from(&app, "198.51.100.1", "").post("/api/v1/auth/mfa/sign-in", body).await.status(), 200);
    assert_eq!(notices(&app).await.len(), 1);
}

#[tokio::test]
async fn passkey_and_tool_sign_ins_from_new_places_are_notified() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up(ADA).await;
    verified(&app, &ada.user_id).await;
    let passkey = app.add_passkey(&ada, 1).await;
    app.configure(json!({ "config": { "new_sign_in_mails": true } })).await;
    let started = app.start_authentication().await;
    let response = passkey.assertion(&started.options);
    assert_eq!(send_assertion_as(&from(&app, "198.51.100.1", ""), &started.code, &response).await.status(), 200);
    assert_eq!(notices(&app).await.len(), 1);

    app.advance(SignedDuration::from_secs(1));
    let (polling, login) = start_tool(&app, json!({})).await;
    assert_eq!(complete(&app, &login, &ada.refresh_token).await.status(), 200);
    let fetched = from(&app, "192.0.2.1", "").post("/api/v1/auth/cli/poll", json!({ "polling_code": polling })).await;
    assert_eq!(fetched.status(), 201, "{}", fetched.text());
    assert_eq!(notices(&app).await.len(), 2);
}

#[tokio::test]
async fn the_token_of_an_ended_session_makes_no_place_known() {
    let app = TestApp::start().await;
    signed_up(&app, true).await;
    let stolen = SignedInUser::of(ADA, &sign_in(&from(&app, "203.0.113.7", "")).await.json());
    app.advance(SignedDuration::from_secs(1));
    let owner = SignedInUser::of(ADA, &sign_in(&from(&app, "203.0.113.7", "")).await.json());
    assert_eq!(app.signed_in(&owner).delete("/api/v1/auth/sessions?user_id=me").await.status(), 200);
    let thief = from(&app, "198.51.100.1", "");
    let refresh = thief.with("x-stack-refresh-token", &stolen.refresh_token).post("/api/v1/auth/sessions/current/refresh", json!({})).await;
    assert_eq!(refresh.code(), "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    sign_in(&from(&app, "198.51.100.1", "")).await;
    assert_eq!(notices(&app).await.len(), 1, "the thief's place is known");
}
