//! The session that a flow starts after linking an account does not permit more than the session in
//! which the flow began.

use jiff::SignedDuration;
use serde_json::json;
use support::provider::Provider;
use support::{Answer, SignedInUser, TestApp};

use super::mfa_authenticators::set_up;
use super::oauth_callback::{ada, exchange, flow, parameter, start};
use super::{assert_error, mfa_sign_in};

const ADA: &str = "ada@home.example";

/// A session of two minutes, created by a server.
async fn short(app: &TestApp, user: &SignedInUser) -> SignedInUser {
    let short = json!({ "user_id": user.user_id, "expires_in_millis": 120_000 });
    let created = app.server().post("/api/v1/auth/sessions", short).await;
    assert_eq!(created.status(), 200, "{}", created.text());
    let mut body = created.json();
    body["user_id"] = json!(user.user_id);
    SignedInUser::of(ADA, &body)
}

/// Runs a flow that links an account in this session, and returns the response to the exchange of
/// its code.
async fn link(app: &TestApp, provider: &Provider, session: &SignedInUser) -> Answer {
    let link = [("type", "link"), ("token", session.access_token.as_str())];
    exchange(app, &parameter(&flow(app, provider, ada(), &link).await, "code")).await
}

async fn refresh(app: &TestApp, token: &str) -> Answer {
    app.client().with("x-stack-refresh-token", token).post("/api/v1/auth/sessions/current/refresh", json!({})).await
}

/// Asserts that the session of these tokens ends with the short session.
async fn assert_is_limited(app: &TestApp, tokens: &serde_json::Value) {
    let token = tokens["refresh_token"].as_str().unwrap();
    assert_eq!(refresh(app, token).await.status(), 200);
    app.advance(SignedDuration::from_secs(121));
    assert_error(&refresh(app, token).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test]
async fn linking_in_a_short_session_starts_no_longer_one() {
    let (app, provider) = start().await;
    let user = app.sign_up(ADA).await;
    let tokens = link(&app, &provider, &short(&app, &user).await).await;
    assert_eq!(tokens.status(), 200, "{}", tokens.text());
    assert_is_limited(&app, &tokens.json()).await;

    // A flow for an account that is already linked also starts a session.
    let tokens = link(&app, &provider, &short(&app, &user).await).await;
    assert_is_limited(&app, &tokens.json()).await;
}

#[tokio::test]
async fn the_second_factor_lifts_no_limit_of_a_linking_session() {
    let (app, provider) = start().await;
    let user = app.sign_up(ADA).await;
    let (phone, _) = set_up(&app, &user).await;
    app.advance(SignedDuration::from_secs(30));
    let asked = link(&app, &provider, &short(&app, &user).await).await;
    let details = assert_error(&asked, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
    let tokens = mfa_sign_in::sign_in(&app, details["attempt_code"].as_str().unwrap(), &phone.shows(&app)).await;
    assert_eq!(tokens.status(), 200, "{}", tokens.text());
    assert_is_limited(&app, &tokens.json()).await;
}

#[tokio::test]
async fn a_linked_account_is_no_fresh_proof() {
    let (app, provider) = start().await;
    app.configure(json!({ "config": { "reauthentication_max_age_seconds": 600 } })).await;
    let user = app.sign_up(ADA).await;
    app.advance(SignedDuration::from_mins(9));
    let own =
        SignedInUser { access_token: refresh(&app, &user.refresh_token).await.json()["access_token"].as_str().unwrap().to_owned(), ..user };
    let tokens = link(&app, &provider, &own).await.json();
    app.advance(SignedDuration::from_mins(2));
    let new = app.client().with("x-stack-access-token", tokens["access_token"].as_str().unwrap());
    let change = json!({ "old_password": "correct horse battery", "new_password": "another horse battery" });
    assert_error(&new.post("/api/v1/auth/password/update", change).await, 403, "REAUTHENTICATION_REQUIRED");
}
