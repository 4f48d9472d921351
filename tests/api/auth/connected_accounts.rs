//! `/api/v1/connected-accounts/…`: the accounts at providers, and their access tokens.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::provider::Fault;
use support::{Answer, SignedIn, TestApp};

use super::assert_error;
use super::oauth_callback::{ada, flow, sign_in, start};

const ACCOUNTS: &str = "/api/v1/connected-accounts";

async fn token(app: &TestApp, user: &SignedIn, account: &str, body: Value) -> Answer {
    app.signed_in(user).post(&format!("{ACCOUNTS}/me/{account}/access-token"), body).await
}

#[tokio::test]
async fn users_list_their_own_accounts_and_servers_those_of_any_user() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let eve = app.sign_up("eve@example.com").await;
    let items = json!([{ "user_id": user.user_id, "provider": "acme", "provider_account_id": "acme|1" }]);
    let own = app.signed_in(&user).get(&format!("{ACCOUNTS}/me")).await;
    assert_eq!((own.status(), own.json()), (200, json!({ "items": items, "is_paginated": false })));
    let by_server = app.server().get(&format!("{ACCOUNTS}/{}", user.user_id)).await;
    assert_eq!(by_server.json()["items"], items);
    assert_eq!(app.signed_in(&eve).get(&format!("{ACCOUNTS}/me")).await.json()["items"], json!([]));
    assert_error(&app.signed_in(&eve).get(&format!("{ACCOUNTS}/{}", user.user_id)).await, 403, "FORBIDDEN");
    assert_error(&app.client().get(&format!("{ACCOUNTS}/me")).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
    let nobody = "6a0c5a8e-58a1-4b0e-9a51-000000000001";
    assert_error(&app.server().get(&format!("{ACCOUNTS}/{nobody}")).await, 404, "USER_NOT_FOUND");
}

#[tokio::test]
async fn the_provider_s_token_is_returned_and_refreshed_when_expired() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let first = token(&app, &user, "acme", json!({})).await;
    assert_eq!(first.status(), 200, "{}", first.text());
    let first = first.json()["access_token"].as_str().unwrap().to_owned();
    let other = app.server().post(&format!("{ACCOUNTS}/{}/acme/acme%7C1/access-token", user.user_id), json!({ "scope": "email" })).await;
    assert_eq!(other.json()["access_token"], first);

    app.advance(SignedDuration::from_mins(59));
    let by_server = || async { app.server().post(&format!("{ACCOUNTS}/{}/acme/access-token", user.user_id), json!({})).await };
    assert_eq!(by_server().await.json()["access_token"], "renewed");
    // The token is cached, so it is returned even if the provider is down.
    provider.misbehave(Fault::Down);
    assert_eq!(by_server().await.json()["access_token"], "renewed");
    app.advance(SignedDuration::from_mins(60));
    assert_error(&by_server().await, 503, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
    provider.misbehave(Fault::Refuses);
    let details = assert_error(&by_server().await, 400, "OAUTH_ACCESS_TOKEN_NOT_AVAILABLE");
    assert_eq!(details["provider"], "acme");
}

#[tokio::test]
async fn a_token_has_the_requested_scopes() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    assert_error(
        &token(&app, &user, "acme", json!({ "scope": "email calendar" })).await,
        400,
        "OAUTH_CONNECTION_DOES_NOT_HAVE_REQUIRED_SCOPE",
    );
    flow(&app, &provider, ada(), &[("type", "link"), ("token", &user.access_token), ("provider_scope", "calendar")]).await;
    assert_eq!(token(&app, &user, "acme", json!({ "scope": "email calendar" })).await.status(), 200);
}

#[tokio::test]
async fn a_token_requires_an_account_and_a_provider() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let eve = app.sign_up("eve@example.com").await;
    assert_error(&token(&app, &eve, "acme", json!({})).await, 400, "OAUTH_CONNECTION_NOT_CONNECTED_TO_USER");
    assert_error(&token(&app, &user, "acme/another", json!({})).await, 400, "OAUTH_CONNECTION_NOT_CONNECTED_TO_USER");
    assert_error(&token(&app, &user, "github", json!({})).await, 400, "OAUTH_PROVIDER_NOT_FOUND_OR_NOT_ENABLED");
    let foreign = app.signed_in(&eve).post(&format!("{ACCOUNTS}/{}/acme/access-token", user.user_id), json!({})).await;
    assert_error(&foreign, 403, "FORBIDDEN");
}
