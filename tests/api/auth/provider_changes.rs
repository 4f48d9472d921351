//! Accounts and tokens after an administrator has changed a provider's issuer or client. An account
//! belongs to the issuer that identified it. A token is sent only to its issuer, and only by the
//! client that it was issued to.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::SignedDuration;
use model::project::Project;
use model::provider::tokens::ProviderTokens;
use serde_json::{Value, json};
use store::provider::tokens::{TokenOwner, keep_tokens};
use support::provider::{CLIENT_ID, Misbehaviour, Provider};
use support::{Answer, SignedInUser, TestApp};
use wire::id::UserId;

use super::assert_error;
use super::oauth_callback::{ada, begin, come_back, error_of, exchange, flow, landed, parameter, sign_in, start};

const ME: &str = "/api/v1/users/me";

/// The settings of a provider with one setting changed.
fn setting(provider: &Provider, name: &str, value: &str) -> Value {
    let mut setting = provider.setting();
    setting[name] = json!(value);
    setting
}

async fn configure(app: &TestApp, providers: &[Value]) {
    app.configure(json!({ "config": { "oauth_providers": providers } })).await;
}

/// A server requests a provider's token.
async fn token(app: &TestApp, user: &SignedInUser) -> Answer {
    app.server().post(&format!("/api/v1/connected-accounts/{}/acme/access-token", user.user_id), json!({})).await
}

#[track_caller]
fn assert_to_be_linked_again(answer: &Answer) {
    assert_error(answer, 400, "OAUTH_CONNECTION_DOES_NOT_HAVE_REQUIRED_SCOPE");
}

async fn project(app: &TestApp) -> Project {
    app.app.store.project(app.project_id()).await.unwrap().unwrap().project
}

#[tokio::test]
async fn an_account_of_another_issuer_with_the_same_subject_is_somebody_else() {
    let (app, first) = start().await;
    let second = Provider::start().await;
    let (old, _) = sign_in(&app, &first, ada()).await;
    configure(&app, &[second.setting()]).await;
    let mallory = json!({ "sub": "acme|1", "email": "mallory@example.com", "email_verified": true });
    let (new, me) = sign_in(&app, &second, mallory.clone()).await;
    assert_ne!(new.user_id, old.user_id);
    assert_eq!(me["primary_email"], "mallory@example.com");
    assert_eq!(sign_in(&app, &second, mallory).await.0.user_id, new.user_id, "the new account is found again");
    assert_eq!(app.table().keys().filter(|(pk, _)| pk.starts_with("O#")).count(), 2);

    // Once the first issuer is configured again, each of its accounts belongs to its user again.
    configure(&app, &[first.setting()]).await;
    assert_eq!(sign_in(&app, &first, ada()).await.0.user_id, old.user_id);
}

#[tokio::test]
async fn a_refresh_token_is_not_sent_to_another_issuer() {
    let (app, first) = start().await;
    let second = Provider::start().await;
    let (user, _) = sign_in(&app, &first, ada()).await;
    assert_eq!(token(&app, &user).await.status(), 201);
    app.advance(SignedDuration::from_mins(60));
    configure(&app, &[second.setting()]).await;
    for path in ["acme/access-token", "acme/acme%7C1/access-token", "acme/access-token?refresh=true"] {
        let path = format!("/api/v1/connected-accounts/{}/{path}", user.user_id);
        assert_to_be_linked_again(&app.server().post(&path, json!({})).await);
    }
    assert!(!second.requests().contains(&"token".to_owned()));

    // The user links the account at the new issuer in addition to the account at the old issuer.
    let by_mail = app.sign_in_by_mail("ada@example.com").await;
    assert_eq!(by_mail.user_id, user.user_id);
    let link = [("type", "link"), ("token", by_mail.access_token.as_str())];
    let linked = exchange(&app, &parameter(&flow(&app, &second, ada(), &link).await, "code")).await;
    assert_eq!(linked.status(), 200, "{}", linked.text());
    assert_eq!(token(&app, &user).await.status(), 201);
    let me = app.signed_in(&by_mail).get(ME).await.json();
    assert_eq!(me["oauth_providers"].as_array().unwrap().len(), 2);
    app.advance(SignedDuration::from_mins(60));
    assert_eq!(token(&app, &user).await.json()["access_token"], "renewed");
    first.requests();
    configure(&app, &[first.setting()]).await;
    assert_eq!(token(&app, &user).await.json()["access_token"], "renewed", "each issuer has its own tokens");
    assert!(first.requests().contains(&"token".to_owned()));
}

#[tokio::test]
async fn a_refresh_token_is_not_sent_with_another_client() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    app.advance(SignedDuration::from_mins(60));
    let mut other = setting(&provider, "client_id", "another client");
    configure(&app, &[other.clone()]).await;
    provider.requests();
    assert_to_be_linked_again(&token(&app, &user).await);
    assert_eq!(provider.requests(), Vec::<String>::new());
    // A new secret of the same client does not affect accounts and tokens.
    other["client_id"] = json!(CLIENT_ID);
    configure(&app, &[other]).await;
    assert_eq!(token(&app, &user).await.json()["access_token"], "renewed");
}

/// A new flow replaces the tokens of another client, because the old tokens are useless. The tokens
/// are replaced even if the flow requests fewer scopes and does not get a refresh token.
#[tokio::test]
async fn a_sign_in_with_another_client_keeps_nothing_of_the_old_tokens() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let mut stale = tokens_of(&app, &user).await;
    assert!(stale.refresh.is_some());
    stale.registration.as_mut().unwrap().client_id = "an earlier client".to_owned();
    stale.scope = "openid email profile calendar".to_owned();
    keep(&app, &user, &stale).await;
    assert_to_be_linked_again(&token(&app, &user).await);
    let mut account = ada();
    account["granted_before"] = true.into();
    assert_eq!(sign_in(&app, &provider, account).await.0.user_id, user.user_id);
    assert_eq!(tokens_of(&app, &user).await.refresh, None);
    assert_eq!(token(&app, &user).await.status(), 201);
}

async fn tokens_of(app: &TestApp, user: &SignedInUser) -> ProviderTokens {
    let (project, id) = (app.project_id(), UserId::parse(&user.user_id).unwrap());
    let row = app.app.store.user(project, id).await.unwrap().unwrap();
    let of = TokenOwner { project, user: id, account: &row.user.provider_accounts[0] };
    app.app.store.provider_tokens(of).await.unwrap().unwrap()
}

/// Stores the user's tokens as earlier versions did, sealed for the account but not for an issuer
/// and a client.
pub(super) async fn age_tokens(app: &TestApp, user: &SignedInUser) {
    let project = app.project_id();
    let owner = format!("{project}/acme/acme|1/tokens");
    let seal = |token: &str| app.app.sealer.seal(&app.app.entropy, &owner, &token.to_owned().into()).unwrap();
    let expires_at = (app.now() + SignedDuration::from_hours(1)).as_millisecond();
    let tokens: ProviderTokens = serde_json::from_value(json!({
        "access": seal(&issued()), "refresh": seal("r"), "scope": "openid email profile", "expires_at": expires_at,
    }))
    .unwrap();
    assert_eq!(tokens.registration, None);
    keep(app, user, &tokens).await;
}

async fn keep(app: &TestApp, user: &SignedInUser, tokens: &ProviderTokens) {
    let (project, id) = (app.project_id(), UserId::parse(&user.user_id).unwrap());
    let row = app.app.store.user(project, id).await.unwrap().unwrap();
    app.app.store.write(keep_tokens(project, id, &row.user.provider_accounts[0], tokens).unwrap()).await.unwrap();
}

/// The access token that the provider issues for a code.
fn issued() -> String {
    URL_SAFE_NO_PAD.encode(ada().to_string())
}

#[tokio::test]
async fn accounts_and_tokens_of_an_earlier_version_belong_to_the_first_issuer() {
    let (app, first) = start().await;
    let second = Provider::start().await;
    let (user, _) = sign_in(&app, &first, ada()).await;
    age_tokens(&app, &user).await;
    // The account's item, its claim and the provider are stored as an earlier version stored them.
    let items = app.table();
    assert!(items.keys().any(|(pk, sk)| *pk == format!("O#{}#acme#acme|1", app.project_id()) && sk == "CLAIM"));
    assert!(project(&app).await.config.first_registrations.is_empty());
    assert_eq!(token(&app, &user).await.json()["access_token"], issued());

    configure(&app, &[second.setting()]).await;
    assert_to_be_linked_again(&token(&app, &user).await);
    let mallory = json!({ "sub": "acme|1", "email": "mallory@example.com", "email_verified": true });
    assert_ne!(sign_in(&app, &second, mallory).await.0.user_id, user.user_id);

    configure(&app, &[first.setting()]).await;
    assert_eq!(token(&app, &user).await.json()["access_token"], issued());
    app.advance(SignedDuration::from_mins(60));
    assert_eq!(token(&app, &user).await.json()["access_token"], "renewed");
    assert!(tokens_of(&app, &user).await.registration.is_some(), "new tokens name their issuer and client");
    assert_eq!(sign_in(&app, &first, ada()).await.0.user_id, user.user_id);
}

/// Many providers issue only one refresh token per grant.
#[tokio::test]
async fn a_sign_in_keeps_the_refresh_token_of_an_earlier_version() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    age_tokens(&app, &user).await;
    let mut account = ada();
    account["granted_before"] = true.into();
    assert_eq!(sign_in(&app, &provider, account).await.0.user_id, user.user_id);
    assert!(tokens_of(&app, &user).await.registration.is_some());
    app.advance(SignedDuration::from_mins(60));
    assert_eq!(token(&app, &user).await.json()["access_token"], "renewed");
}

/// Removing a provider and adding it again with another issuer counts as changing its issuer.
#[tokio::test]
async fn a_provider_that_is_added_again_is_the_same_only_with_its_issuer() {
    let (app, first) = start().await;
    let second = Provider::start().await;
    let (user, _) = sign_in(&app, &first, ada()).await;
    configure(&app, &[]).await;
    configure(&app, &[second.setting()]).await;
    let mallory = json!({ "sub": "acme|1", "email": "mallory@example.com", "email_verified": true });
    assert_ne!(sign_in(&app, &second, mallory).await.0.user_id, user.user_id);
    assert_to_be_linked_again(&token(&app, &user).await);
    configure(&app, &[]).await;
    configure(&app, &[first.setting()]).await;
    assert_eq!(sign_in(&app, &first, ada()).await.0.user_id, user.user_id);
    assert_eq!(token(&app, &user).await.status(), 201);
}

/// The operations on a single provider change the issuer in the same way as the setting with all
/// providers.
#[tokio::test]
async fn a_provider_that_is_set_or_removed_by_itself_is_the_same_only_with_its_issuer() {
    const PROVIDERS: &str = "/api/v1/internal/oauth-providers";
    for is_removed_first in [false, true] {
        let (app, first) = start().await;
        let second = Provider::start().await;
        let (user, _) = sign_in(&app, &first, ada()).await;
        if is_removed_first {
            assert_eq!(app.admin().delete(&format!("{PROVIDERS}/acme")).await.status(), 200);
        }
        let set = async |provider: &Provider| app.admin().post(PROVIDERS, provider.setting()).await;
        assert_eq!(set(&second).await.status(), 200);
        assert_to_be_linked_again(&token(&app, &user).await);
        let mallory = json!({ "sub": "acme|1", "email": "mallory@example.com", "email_verified": true });
        assert_ne!(sign_in(&app, &second, mallory).await.0.user_id, user.user_id);
        assert_eq!(set(&first).await.status(), 200);
        assert_eq!(sign_in(&app, &first, ada()).await.0.user_id, user.user_id);
    }
}

#[tokio::test]
async fn a_flow_ends_at_the_issuer_at_which_it_began() {
    let (app, first) = start().await;
    let second = Provider::start().await;
    let (code, state) = first.allow(&app, &begin(&app, &[]).await, ada());
    configure(&app, &[second.setting()]).await;
    second.requests();
    let back = landed(&come_back(&app, &code, &state).await);
    assert_eq!(error_of(&back), "INVALID_AUTHORIZATION_CODE");
    assert_eq!(second.requests(), Vec::<String>::new(), "neither the code nor its verifier is sent there");
}

/// If the account counted as a way to sign in, a client could remove the user's only remaining way.
#[tokio::test]
async fn an_account_of_another_issuer_is_no_way_to_sign_in() {
    let (app, first) = start().await;
    let second = Provider::start().await;
    let (user, _) = sign_in(&app, &first, ada()).await;
    assert_eq!(app.signed_in(&user).post("/api/v1/auth/password/set", json!({ "password": "correct horse battery" })).await.status(), 200);
    let channel = app.signed_in(&user).get("/api/v1/contact-channels?user_id=me").await.json()["items"][0]["id"].clone();
    let path = format!("/api/v1/contact-channels/me/{}", channel.as_str().unwrap());
    configure(&app, &[second.setting()]).await;
    assert_error(&app.signed_in(&user).patch(&path, json!({ "used_for_auth": false })).await, 409, "LAST_SIGN_IN_METHOD");
    configure(&app, &[first.setting()]).await;
    assert_eq!(app.signed_in(&user).patch(&path, json!({ "used_for_auth": false })).await.status(), 200);
}

#[tokio::test]
async fn accounts_that_a_server_brings_are_of_the_present_issuer() {
    let (app, first) = start().await;
    let second = Provider::start().await;
    configure(&app, &[second.setting()]).await;
    let account = json!({ "oauth_providers": [{ "id": "acme", "account_id": "acme|1" }] });
    let imported = app.server().post("/api/v1/users", account).await;
    assert_eq!(imported.status(), 201, "{}", imported.text());
    let other = app.sign_up("bob@example.com").await;
    let added = json!({
        "user_id": other.user_id, "provider_config_id": "acme", "account_id": "acme|2", "allow_sign_in": true, "allow_connected_accounts": true,
    });
    assert_eq!(app.server().post("/api/v1/oauth-providers", added).await.status(), 201);
    let of = |sub: &str| json!({ "sub": sub });
    assert_eq!(sign_in(&app, &second, of("acme|1")).await.0.user_id, imported.json()["id"].as_str().unwrap());
    assert_eq!(sign_in(&app, &second, of("acme|2")).await.0.user_id, other.user_id);
    configure(&app, &[first.setting()]).await;
    assert_ne!(sign_in(&app, &first, of("acme|2")).await.0.user_id, other.user_id);
}

/// A provider may revoke a token before it expires.
#[tokio::test]
async fn a_token_that_the_provider_has_revoked_is_found_out_and_replaced() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let first = token(&app, &user).await.json()["access_token"].clone();
    provider.requests();
    provider.misbehave(Misbehaviour::RevokesAccess);
    assert_eq!(token(&app, &user).await.json()["access_token"], first, "the provider has just issued it");
    assert_eq!(provider.requests(), Vec::<String>::new());
    app.advance(SignedDuration::from_mins(5));
    assert_eq!(token(&app, &user).await.json()["access_token"], "renewed", "the refresh token still works");
    // The new token is not checked immediately.
    provider.requests();
    assert_eq!(token(&app, &user).await.json()["access_token"], "renewed");
    assert_eq!(provider.requests(), Vec::<String>::new());

    // If the provider has also revoked the refresh token, the user has to link the account again.
    provider.misbehave(Misbehaviour::RevokesEverything);
    app.advance(SignedDuration::from_mins(5));
    for _ in 0..2 {
        assert_to_be_linked_again(&token(&app, &user).await);
    }
    provider.behave();
    sign_in(&app, &provider, ada()).await;
    assert_eq!(token(&app, &user).await.status(), 201);
}

#[tokio::test]
async fn a_caller_whose_token_failed_gets_another_one() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let path = format!("/api/v1/connected-accounts/{}/acme/access-token", user.user_id);
    let first = token(&app, &user).await.json()["access_token"].clone();
    let failed = async || app.server().post(&format!("{path}?refresh=true"), json!({})).await;
    assert_eq!(app.server().post(&format!("{path}?refresh=false"), json!({})).await.json()["access_token"], first);
    provider.misbehave(Misbehaviour::Down);
    assert_error(&failed().await, 503, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
    assert_eq!(token(&app, &user).await.json()["access_token"], first, "nothing is lost");
    provider.behave();
    assert_eq!(failed().await.json()["access_token"], "renewed");
    assert_eq!(token(&app, &user).await.json()["access_token"], "renewed");
    provider.misbehave(Misbehaviour::RevokesEverything);
    assert_to_be_linked_again(&failed().await);
    assert_error(&app.server().post(&format!("{path}?refresh=maybe"), json!({})).await, 400, "SCHEMA_ERROR");
}
