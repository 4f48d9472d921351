//! The provider's tokens for an account that is already linked to a user. A callback alone does not
//! replace any of the tokens. The person who returns from the provider may not be the person who
//! began the flow (RFC 9700 §4.7). After an earlier consent, the provider does not ask for consent
//! again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};
use support::provider::{Misbehaviour, Provider};
use support::{SignedInUser, TestApp};

use super::assert_error;
use super::mfa_sign_in::{now_code, sign_in as second_factor};
use super::oauth_callback::{TOKEN, ada, exchange, exchange_of, flow, parameter, start};
use crate::stored::change_user;

const WIDE: &str = "openid email profile calendar";
const NARROW: &str = "openid email profile";

/// The stored tokens of the only account.
fn stored(app: &TestApp) -> Option<Value> {
    let mut items = app.table().into_iter().filter(|((pk, sk), _)| pk.starts_with("U#") && sk.starts_with("PROVIDER#"));
    let first = items.next().map(|(_, item)| item["d"]["M"].clone());
    assert!(items.next().is_none());
    first
}

fn scope(app: &TestApp) -> String {
    stored(app).unwrap()["scope"]["S"].as_str().unwrap().to_owned()
}

/// Whether an item contains tokens of a provider, apart from the item of the account's tokens.
fn are_waiting(app: &TestApp) -> bool {
    app.table().values().any(|item| item["d"]["M"]["new_tokens"].is_object())
}

async fn code(app: &TestApp, provider: &Provider, account: Value, others: &[(&'static str, &str)]) -> String {
    parameter(&flow(app, provider, account, others).await, "code")
}

/// A user whose app has a token with a scope that is not needed for sign-in.
async fn connected(app: &TestApp, provider: &Provider) -> SignedInUser {
    let code = code(app, provider, ada(), &[("provider_scope", "calendar")]).await;
    assert!(stored(app).is_none() && are_waiting(app), "the callback stores no tokens");
    let mut tokens = exchange(app, &code).await.json();
    assert_eq!(scope(app), WIDE);
    assert!(!are_waiting(app), "the code keeps no tokens");
    let me = app.client().with("x-stack-access-token", tokens["access_token"].as_str().unwrap()).get("/api/v1/users/me").await;
    tokens["user_id"] = me.json()["id"].clone();
    SignedInUser::of("ada@example.com", &tokens)
}

#[tokio::test]
async fn a_callback_alone_replaces_no_tokens() {
    let (app, provider) = start().await;
    let user = connected(&app, &provider).await;
    let before = stored(&app);
    let link = [("type", "link"), ("token", user.access_token.as_str())];
    for others in [&[][..], &[("provider_scope", "contacts")], &link] {
        code(&app, &provider, ada(), others).await;
        assert_eq!(stored(&app), before, "{others:?}");
    }
    // Without the verifier, a code does not change anything.
    let foreign = code(&app, &provider, ada(), &[("provider_scope", "contacts")]).await;
    let mut request = exchange_of(&app, &foreign);
    request["code_verifier"] = "another verifier of somebody who did not begin the flow".into();
    assert_error(&app.anonymous().post(TOKEN, request).await, 400, "INVALID_AUTHORIZATION_CODE");
    assert_eq!(stored(&app), before);
}

#[tokio::test]
async fn a_sign_in_keeps_wider_tokens_and_other_flows_replace_them() {
    let (app, provider) = start().await;
    let user = connected(&app, &provider).await;
    let before = stored(&app);
    assert_eq!(exchange(&app, &code(&app, &provider, ada(), &[]).await).await.status(), 200);
    assert_eq!(stored(&app), before);

    assert_eq!(exchange(&app, &code(&app, &provider, ada(), &[("provider_scope", "contacts")]).await).await.status(), 200);
    assert_eq!(scope(&app), format!("{NARROW} contacts"));
    let link = [("type", "link"), ("token", user.access_token.as_str())];
    assert_eq!(exchange(&app, &code(&app, &provider, ada(), &link).await).await.status(), 200);
    assert_eq!(scope(&app), NARROW);
    let before = stored(&app);
    assert_eq!(exchange(&app, &code(&app, &provider, ada(), &[]).await).await.status(), 200);
    assert_ne!(stored(&app), before, "tokens with the same scopes are newer");
}

#[tokio::test]
async fn a_refresh_token_stays_if_the_provider_issues_no_other() {
    let (app, provider) = start().await;
    let user = connected(&app, &provider).await;
    let mut again = ada();
    again["granted_before"] = true.into();
    let before = stored(&app).unwrap();
    assert_eq!(exchange(&app, &code(&app, &provider, again.clone(), &[("provider_scope", "calendar drive")]).await).await.status(), 200);
    let now = stored(&app).unwrap();
    assert_eq!((&now["refresh"], &now["refresh_scope"]["S"]), (&before["refresh"], &json!(WIDE)));
    assert_ne!(now["access"], before["access"]);
    app.advance(SignedDuration::from_mins(60));
    let path = format!("/api/v1/connected-accounts/{}/acme/access-token", user.user_id);
    assert_eq!(app.server().post(&path, json!({})).await.json()["access_token"], "renewed");
    assert_eq!(scope(&app), WIDE, "the refresh token gives a token with its own scopes");
}

#[tokio::test]
async fn a_second_factor_comes_before_the_tokens() {
    for is_right in [false, true] {
        let (app, provider) = start().await;
        let user = connected(&app, &provider).await;
        let app_secret = json!({ "totp_secret_base64": STANDARD.encode(b"a secret of an app") });
        assert_eq!(app.signed_in(&user).patch("/api/v1/users/me", app_secret).await.status(), 200);
        let before = stored(&app);
        let code = code(&app, &provider, ada(), &[("provider_scope", "contacts")]).await;
        let details = assert_error(&exchange(&app, &code).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
        assert_eq!(stored(&app), before);
        let attempt = details["attempt_code"].as_str().unwrap();
        if is_right {
            assert_eq!(second_factor(&app, attempt, &now_code(&app)).await.status(), 200);
            assert_eq!(scope(&app), format!("{NARROW} contacts"));
            assert!(!are_waiting(&app), "the attempt keeps no tokens");
        } else {
            assert_error(&second_factor(&app, attempt, "nonsense").await, 400, "INVALID_TOTP_CODE");
            assert_eq!(stored(&app), before);
        }
    }
}

/// Unlinking an account that only gives access to the provider does not change the credentials.
#[tokio::test]
async fn an_account_unlinked_since_the_callback_gets_no_tokens() {
    let (app, provider) = start().await;
    let user = connected(&app, &provider).await;
    change_user(&app, &user, |user| user.provider_accounts[0].allow_sign_in = false).await;
    let fresh = app.sign_in_code("ada@example.com").await;
    let answer = app.client().post("/api/v1/auth/otp/sign-in", json!({ "code": fresh })).await.json();
    let user = SignedInUser::of("ada@example.com", &answer);
    let link = [("type", "link"), ("token", user.access_token.as_str()), ("provider_scope", "drive")];
    let late = code(&app, &provider, ada(), &link).await;
    let listed = app.server().get(&format!("/api/v1/oauth-providers?user_id={}", user.user_id)).await.json();
    let path = format!("/api/v1/oauth-providers/{}/{}", user.user_id, listed["items"][0]["id"].as_str().unwrap());
    assert_eq!(app.server().delete(&path).await.status(), 200);
    assert_eq!(exchange(&app, &late).await.status(), 200);
    assert_eq!(stored(&app), None);
}

/// Sign-ins and a refresh that run concurrently all succeed. The tokens of one of these requests
/// are stored.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_sign_ins_and_a_refresh_all_succeed() {
    let (app, provider) = start().await;
    let user = connected(&app, &provider).await;
    app.advance(SignedDuration::from_mins(60));
    let mut codes = Vec::new();
    for _ in 0..3 {
        codes.push(code(&app, &provider, ada(), &[("provider_scope", "calendar")]).await);
    }
    provider.misbehave(Misbehaviour::Waits);
    let path = format!("/api/v1/connected-accounts/{}/acme/access-token", user.user_id);
    let server = app.server();
    // The users sign in while the provider renews the token.
    let sign_ins = async {
        provider.is_waiting(1).await;
        let answers = join_all(codes.iter().map(|code| exchange(&app, code))).await;
        provider.behave();
        answers
    };
    let (token, answers) = tokio::join!(server.post(&path, json!({})), sign_ins);
    assert_eq!(token.status(), 201, "{}", token.text());
    assert!(answers.iter().all(|answer| answer.status() == 200), "{:?}", answers.iter().map(support::Answer::text).collect::<Vec<_>>());
    assert_eq!((scope(&app).as_str(), app.server().post(&path, json!({})).await.status()), (WIDE, 201));
}
