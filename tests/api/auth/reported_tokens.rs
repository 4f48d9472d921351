//! Callers that keep reporting a provider's token as failed (`?refresh=true`), and providers with
//! short-lived tokens. The service calls the provider occasionally, not for every request.

use jiff::SignedDuration;
use serde_json::json;
use support::provider::{Misbehaviour, Provider};
use support::{Answer, SignedInUser, TestApp};

use super::assert_error;
use super::oauth_callback::{ada, sign_in, start};

async fn token(app: &TestApp, user: &SignedInUser, query: &str) -> Answer {
    app.server().post(&format!("/api/v1/connected-accounts/{}/acme/access-token{query}", user.user_id), json!({})).await
}

/// Reports the token as failed ten times in a second, and gets a token each time. Returns the
/// endpoints of the provider that were called.
async fn report(app: &TestApp, provider: &Provider, user: &SignedInUser) -> Vec<String> {
    provider.requests();
    for _ in 0..10 {
        let answer = token(app, user, "?refresh=true").await;
        assert_eq!(answer.status(), 201, "{}", answer.text());
    }
    provider.requests().into_iter().filter(|endpoint| endpoint != "metadata").collect()
}

#[tokio::test]
async fn a_token_that_is_reported_again_and_again_is_renewed_once_and_asked_about_once() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    assert_eq!(report(&app, &provider, &user).await, ["token", "userinfo"]);
    app.advance(SignedDuration::from_secs(29));
    assert_eq!(report(&app, &provider, &user).await, Vec::<String>::new());
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(report(&app, &provider, &user).await, ["token", "userinfo"]);
}

#[tokio::test]
async fn a_token_that_was_just_renewed_and_then_revoked_is_found_out() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    assert_eq!(token(&app, &user, "?refresh=true").await.json()["access_token"], "renewed");
    provider.misbehave(Misbehaviour::RevokesEverything);
    assert_error(&token(&app, &user, "?refresh=true").await, 400, "OAUTH_CONNECTION_DOES_NOT_HAVE_REQUIRED_SCOPE");
}

#[tokio::test]
async fn a_token_without_a_refresh_token_is_asked_about_once() {
    let (app, provider) = start().await;
    let mut account = ada();
    account["granted_before"] = json!(true);
    let (user, _) = sign_in(&app, &provider, account).await;
    assert_eq!(report(&app, &provider, &user).await, ["userinfo"]);
    app.advance(SignedDuration::from_secs(30));
    assert_eq!(report(&app, &provider, &user).await, ["userinfo"]);
    provider.misbehave(Misbehaviour::RevokesEverything);
    app.advance(SignedDuration::from_secs(30));
    assert_error(&token(&app, &user, "?refresh=true").await, 400, "OAUTH_CONNECTION_DOES_NOT_HAVE_REQUIRED_SCOPE");
}

#[tokio::test]
async fn a_token_with_a_short_life_is_not_renewed_each_time() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    provider.misbehave(Misbehaviour::ShortLife);
    app.advance(SignedDuration::from_mins(56));
    provider.requests();
    for _ in 0..5 {
        assert_eq!(token(&app, &user, "").await.json()["access_token"], "renewed");
    }
    assert_eq!(provider.requests().iter().filter(|endpoint| *endpoint == "token").count(), 1);
    app.advance(SignedDuration::from_secs(30));
    token(&app, &user, "").await;
    assert_eq!(provider.requests().iter().filter(|endpoint| *endpoint == "token").count(), 1);
}
