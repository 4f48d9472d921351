//! `/api/v1/connected-accounts/…`, with tests about accounts at providers and the access tokens of
//! these accounts.

use std::collections::HashMap;

use jiff::SignedDuration;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use support::provider::Misbehaviour;
use support::stand_in::StandIn;
use support::until::until;
use support::{Answer, SignedInUser, TestApp};

use super::assert_error;
use super::oauth_authorize::{authorize, parameters_with};
use super::oauth_callback::{ada, exchange, flow, landed, parameter, sign_in, start};

const ACCOUNTS: &str = "/api/v1/connected-accounts";

async fn token(app: &TestApp, user: &SignedInUser, account: &str, body: Value) -> Answer {
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
    assert_eq!(first.status(), 201, "{}", first.text());
    let first = first.json()["access_token"].as_str().unwrap().to_owned();
    let other = app.server().post(&format!("{ACCOUNTS}/{}/acme/acme%7C1/access-token", user.user_id), json!({ "scope": "email" })).await;
    assert_eq!(other.json()["access_token"], first);

    app.advance(SignedDuration::from_mins(54));
    assert_eq!(by_server(&app, &user).await.json()["access_token"], first);
    app.advance(SignedDuration::from_mins(1));
    assert_eq!(by_server(&app, &user).await.json()["access_token"], "renewed");
    // The stored token is returned while the provider is down.
    provider.misbehave(Misbehaviour::Down);
    assert_eq!(by_server(&app, &user).await.json()["access_token"], "renewed");
}

/// A server requests the token of the user's account, with the headers of the newest published SDK.
async fn by_server(app: &TestApp, user: &SignedInUser) -> Answer {
    let server = ["project-id", "access-type", "secret-server-key"].into_iter().fold(app.server(), |caller, name| {
        let value = match name {
            "project-id" => app.project_id().as_str(),
            "access-type" => "server",
            _ => app.keys.server.expose_secret(),
        };
        caller.without(&format!("x-stack-{name}")).with(&format!("x-hexclave-{name}"), value)
    });
    server.post(&format!("{ACCOUNTS}/{}/acme/access-token", user.user_id), json!({})).await
}

#[tokio::test]
async fn a_refresh_that_fails_temporarily_loses_no_token() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let first = by_server(&app, &user).await.json()["access_token"].clone();
    app.advance(SignedDuration::from_mins(57));
    provider.misbehave(Misbehaviour::Down);
    assert_eq!(by_server(&app, &user).await.json()["access_token"], first, "the old token lives for three minutes more");
    app.advance(SignedDuration::from_mins(3));
    for (fault, status, code) in [
        (Misbehaviour::Down, 503, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (Misbehaviour::Silent, 503, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (Misbehaviour::Garbage, 503, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (Misbehaviour::RefusesClient, 400, "OAUTH_PROVIDER_REFUSES_CLIENT"),
        (Misbehaviour::RefusesClientInHtml, 400, "OAUTH_PROVIDER_REFUSES_CLIENT"),
    ] {
        provider.misbehave(fault);
        assert_error(&by_server(&app, &user).await, status, code);
    }
    provider.behave();
    assert_eq!(by_server(&app, &user).await.json()["access_token"], "renewed");
}

#[tokio::test]
async fn a_refresh_token_refused_for_good_is_not_tried_again() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    app.advance(SignedDuration::from_mins(60));
    provider.misbehave(Misbehaviour::Refuses);
    let details = assert_error(&by_server(&app, &user).await, 400, "OAUTH_ACCESS_TOKEN_NOT_AVAILABLE");
    assert_eq!(details["provider"], "acme");
    assert!(details["details"].as_str().unwrap().contains("revoked"), "{details}");
    provider.behave();
    provider.requests();
    assert_error(&by_server(&app, &user).await, 400, "OAUTH_ACCESS_TOKEN_NOT_AVAILABLE");
    let by_older_sdk = app.server().post(&format!("{ACCOUNTS}/{}/acme/access-token", user.user_id), json!({})).await;
    assert_error(&by_older_sdk, 400, "OAUTH_CONNECTION_DOES_NOT_HAVE_REQUIRED_SCOPE");
    assert_eq!(provider.requests(), Vec::<String>::new());

    sign_in(&app, &provider, ada()).await;
    assert_eq!(by_server(&app, &user).await.status(), 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_refresh_a_token_once() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    app.advance(SignedDuration::from_mins(60));
    provider.misbehave(Misbehaviour::Waits);
    provider.requests();
    app.recorder.clear();
    // The provider responds only after every request has tried to become the request that refreshes
    // the token.
    let behave = async {
        until("all requests compete", || app.recorder.count_of("UpdateItem", "refreshing_until") >= 20).await;
        provider.is_waiting(1).await;
        provider.behave();
    };
    let (answers, ()) = tokio::join!(futures_util::future::join_all((0..20).map(|_| by_server(&app, &user))), behave);
    assert!(answers.iter().all(|answer| answer.json()["access_token"] == "renewed"));
    assert_eq!(provider.requests().iter().filter(|path| *path == "token").count(), 1);
}

/// If each request asked by itself, many requests would each call the provider five times a second
/// during the refresh.
#[tokio::test]
async fn requests_that_wait_for_a_new_token_ask_about_the_old_one_once() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    app.advance(SignedDuration::from_mins(5));
    provider.misbehave(Misbehaviour::RevokesAccessAndWaits);
    provider.requests();
    app.recorder.clear();
    let behave = async {
        until("the others wait", || app.recorder.count_of("UpdateItem", "refreshing_until") >= 9).await;
        provider.is_waiting(1).await;
        provider.behave();
    };
    let (answers, ()) = tokio::join!(futures_util::future::join_all((0..3).map(|_| by_server(&app, &user))), behave);
    assert!(answers.iter().all(|answer| answer.json()["access_token"] == "renewed"));
    assert_eq!(provider.requests().iter().filter(|path| *path == "userinfo").count(), 3);
}

/// The process that refreshes a token may end without responding.
#[tokio::test]
async fn an_abandoned_refresh_is_taken_over() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    app.advance(SignedDuration::from_mins(60));
    provider.misbehave(Misbehaviour::Waits);
    tokio::select! {
        answer = by_server(&app, &user) => panic!("{}", answer.text()),
        () = provider.is_waiting(1) => {}
    }
    provider.behave();
    app.advance(SignedDuration::from_secs(25));
    assert_eq!(by_server(&app, &user).await.json()["access_token"], "renewed");
}

#[tokio::test]
async fn an_account_unlinked_during_a_refresh_keeps_no_tokens() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    app.advance(SignedDuration::from_mins(60));
    provider.misbehave(Misbehaviour::Waits);
    let listed = app.server().get(&format!("/api/v1/oauth-providers?user_id={}", user.user_id)).await.json();
    let path = format!("/api/v1/oauth-providers/{}/{}", user.user_id, listed["items"][0]["id"].as_str().unwrap());
    let unlink = async {
        provider.is_waiting(1).await;
        let unlinked = app.server().delete(&path).await;
        provider.behave();
        unlinked
    };
    let (_, unlinked) = tokio::join!(by_server(&app, &user), unlink);
    assert_eq!(unlinked.status(), 200);
    assert!(app.table().keys().all(|key| !key.1.starts_with("PROVIDER#")));
}

/// The statuses of three requests for the token of a user who signed in with a provider of the
/// catalog. The first request is made after five minutes. The second and the third request are made
/// after the user has revoked the token, the third while the provider is down.
async fn before_and_after_a_revocation(provider_id: &str, documents: HashMap<String, Value>) -> [u16; 3] {
    let provider = StandIn::start(provider_id, documents).await;
    let app = TestApp::start_at(&provider).await;
    app.configure(json!({ "config": { "oauth_providers": [provider.setting()] } })).await;
    let mut asked = parameters_with(&app, &[]);
    asked.push(("response_mode", "json".to_owned()));
    let begun = authorize(&app, provider_id, &asked).await.json();
    let (code, state) = provider.allow(&begun["location"].as_str().unwrap().parse().unwrap());
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("code", &code).append_pair("state", &state).finish();
    let back = landed(&app.anonymous().get(&format!("/api/v1/auth/oauth/callback/{provider_id}?{query}")).await);
    let tokens = exchange(&app, &parameter(&back, "code")).await.json();
    let me = app.client().with("x-stack-access-token", tokens["access_token"].as_str().unwrap()).get("/api/v1/users/me").await.json();
    let path = format!("{ACCOUNTS}/{}/{provider_id}/access-token", me["id"].as_str().unwrap());
    let token = async || app.server().post(&path, json!({})).await;
    app.advance(SignedDuration::from_mins(5));
    let before = token().await.status();
    provider.revoke();
    app.advance(SignedDuration::from_mins(5));
    let revoked = token().await;
    assert_error(&revoked, 400, "OAUTH_CONNECTION_DOES_NOT_HAVE_REQUIRED_SCOPE");
    provider.fail(true);
    [before, revoked.status(), token().await.status()]
}

/// GitHub's tokens do not expire, but users can revoke them.
#[tokio::test]
async fn github_is_asked_whether_a_token_was_revoked() {
    let documents = [
        ("https://api.github.com/user", json!({ "id": 583_231, "login": "ada" })),
        ("https://api.github.com/user/emails", json!([{ "email": "ada@example.com", "primary": true, "verified": true }])),
    ];
    let documents = documents.map(|(url, document)| (url.to_owned(), document)).into();
    assert_eq!(before_and_after_a_revocation("github", documents).await, [201, 400, 400]);
}

#[tokio::test]
async fn google_is_asked_whether_a_token_was_revoked() {
    let claims = json!({ "sub": "1084", "email": "ada@example.com", "email_verified": true });
    assert_eq!(before_and_after_a_revocation("google", HashMap::from([(String::new(), claims)])).await, [201, 400, 400]);
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
    let asked = [("type", "link"), ("token", &user.access_token), ("provider_scope", "calendar")];
    let more = flow(&app, &provider, ada(), &asked).await;
    assert_eq!(exchange(&app, &parameter(&more, "code")).await.status(), 200);
    assert_eq!(token(&app, &user, "acme", json!({ "scope": "email calendar" })).await.status(), 201);
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
