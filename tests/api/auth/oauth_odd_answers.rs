//! Unusual responses of OpenID issuers, some of which the standard permits.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::TestApp;
use support::provider::{Key, Misbehaviour, Provider};

use super::oauth_callback::{ada, begin, error_of, flow, sign_in, start};

/// Ada's account with these claims. `null` removes a claim.
fn with(claims: &[(&str, Value)]) -> Value {
    let mut account = ada();
    for (name, value) in claims {
        match value {
            Value::Null => drop(account.as_object_mut().unwrap().remove(*name)),
            value => account[*name] = value.clone(),
        }
    }
    account
}

async fn me(app: &TestApp, provider: &Provider, account: Value) -> Value {
    sign_in(app, provider, account).await.1
}

#[tokio::test]
async fn times_may_have_a_fraction_and_the_issuer_s_clock_may_be_ahead() {
    let (app, provider) = start().await;
    let now = app.now().as_second();
    for (number, claims) in [
        [("exp", json!(now + 300)), ("iat", json!(now))],
        [("exp", json!(f64::from(i32::try_from(now).unwrap()) + 300.5)), ("iat", json!(f64::from(i32::try_from(now).unwrap()) + 0.25))],
        [("exp", json!(now + 900)), ("iat", json!(now + 600))],
        [("nbf", json!(f64::from(i32::try_from(now).unwrap()) - 0.5)), ("azp", json!("an app of the same maker"))],
    ]
    .into_iter()
    .enumerate()
    {
        let mut account = with(&claims);
        account["sub"] = json!(format!("acme|{number}"));
        account["email"] = json!(format!("ada{number}@example.com"));
        assert_eq!(me(&app, &provider, account).await["primary_email"], format!("ada{number}@example.com"));
    }
    for wrong in [("exp", json!("soon")), ("exp", json!(now - 3600)), ("nbf", json!(now + 3600)), ("aud", json!(["acme-client", "other"]))]
    {
        error_of(&flow(&app, &provider, with(&[wrong]), &[]).await);
    }
}

#[tokio::test]
async fn userinfo_may_be_a_signed_jwt() {
    let (app, provider) = start().await;
    provider.misbehave(Misbehaviour::SignedUserinfo);
    let user = me(&app, &provider, with(&[("userinfo", json!(true))])).await;
    assert_eq!((&user["primary_email"], &user["primary_email_verified"]), (&json!("ada@example.com"), &json!(true)));
    provider.misbehave(Misbehaviour::ForgedUserinfo);
    let stranger = with(&[("userinfo", json!(true)), ("sub", json!("acme|2")), ("email", json!("eve@example.com"))]);
    assert_eq!(error_of(&flow(&app, &provider, stranger, &[]).await), "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
}

#[tokio::test]
async fn userinfo_that_refuses_does_not_matter_if_the_id_token_suffices() {
    for status in [401, 403, 404] {
        let (app, provider) = start().await;
        provider.misbehave(Misbehaviour::UserinfoAnswers(status));
        let user = me(&app, &provider, with(&[("name", Value::Null)])).await;
        assert_eq!((&user["primary_email"], &user["display_name"]), (&json!("ada@example.com"), &Value::Null), "{status}");
        let nameless = me(&app, &provider, with(&[("userinfo", json!(true)), ("sub", json!("acme|2"))])).await;
        assert_eq!((&nameless["primary_email"], &nameless["display_name"]), (&Value::Null, &Value::Null), "{status}");
    }
    // Without a userinfo response, the service does not know whether the account has an address.
    let (app, provider) = start().await;
    provider.misbehave(Misbehaviour::UserinfoAnswers(503));
    assert_eq!(me(&app, &provider, with(&[("name", Value::Null)])).await["primary_email"], "ada@example.com");
    let account = with(&[("userinfo", json!(true)), ("sub", json!("acme|2"))]);
    assert_eq!(error_of(&flow(&app, &provider, account, &[]).await), "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
}

#[tokio::test]
async fn claims_may_be_split_between_the_id_token_and_userinfo() {
    for elsewhere in [json!(["email_verified"]), json!(["email"]), json!(["name", "picture"]), json!(["email", "email_verified", "name"])] {
        let (app, provider) = start().await;
        let user = me(&app, &provider, with(&[("userinfo", elsewhere.clone())])).await;
        assert_eq!((&user["primary_email"], &user["primary_email_verified"]), (&json!("ada@example.com"), &json!(true)), "{elsewhere}");
        assert_eq!(user["display_name"], "Ada Lovelace", "{elsewhere}");
    }
}

#[tokio::test]
async fn a_name_may_come_in_parts() {
    let (app, provider) = start().await;
    let parts = [("name", Value::Null), ("given_name", json!("Ada")), ("family_name", json!("King"))];
    assert_eq!(me(&app, &provider, with(&parts)).await["display_name"], "Ada King");
}

/// Issuers may replace a key but keep its id, or publish a single key without an id.
#[tokio::test]
async fn a_new_key_works_whatever_its_id() {
    let (app, provider) = start().await;
    sign_in(&app, &provider, ada()).await;
    let old = provider.key();
    for key in [old.forged(), Key::new(7).nameless(), Key::new(8).nameless(), Key::new(9)] {
        app.advance(SignedDuration::from_secs(31));
        provider.requests();
        provider.use_key(key);
        sign_in(&app, &provider, ada()).await;
        assert_eq!(provider.requests().iter().filter(|path| *path == "jwks").count(), 1, "the keys are read again once");
    }
    // Only some forged tokens cause a request for keys.
    provider.misbehave(Misbehaviour::ForgedSignature);
    for _ in 0..3 {
        error_of(&flow(&app, &provider, ada(), &[]).await);
    }
    assert_eq!(provider.requests().iter().filter(|path| *path == "jwks").count(), 0);
    app.advance(SignedDuration::from_secs(31));
    for _ in 0..3 {
        error_of(&flow(&app, &provider, ada(), &[]).await);
    }
    assert_eq!(provider.requests().iter().filter(|path| *path == "jwks").count(), 1);
}

#[tokio::test]
async fn an_id_token_may_be_signed_with_es512() {
    let (app, provider) = start().await;
    provider.use_key(Key::p521(1));
    provider.publish("id_token_signing_alg_values_supported", json!(["ES512"]));
    app.configure(json!({ "config": { "oauth_providers": [provider.setting()] } })).await;
    sign_in(&app, &provider, ada()).await;
    provider.misbehave(Misbehaviour::ForgedSignature);
    assert_eq!(error_of(&flow(&app, &provider, ada(), &[]).await), "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
}

/// OpenID Connect Core §3.1.3.7 step 8.
#[tokio::test]
async fn an_id_token_may_be_signed_with_the_client_secret_if_the_issuer_says_so() {
    let (app, provider) = start().await;
    provider.misbehave(Misbehaviour::SignsWithSecret);
    assert_eq!(error_of(&flow(&app, &provider, ada(), &[]).await), "OAUTH_PROVIDER_MISCONFIGURED");
    provider.publish("id_token_signing_alg_values_supported", json!(["HS256"]));
    app.advance(SignedDuration::from_hours(2));
    sign_in(&app, &provider, ada()).await;
}

#[tokio::test]
async fn a_provider_that_fails_once_is_asked_again_unless_the_code_may_have_been_used() {
    let (app, provider) = start().await;
    app.advance(SignedDuration::from_hours(2));
    provider.requests();
    provider.misbehave(Misbehaviour::FailsOnce);
    begin(&app, &[]).await;
    assert_eq!(provider.requests(), ["metadata", "metadata"]);
    assert_eq!(error_of(&flow(&app, &provider, ada(), &[]).await), "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
    assert_eq!(provider.requests(), ["token"], "a code is sent once");
    provider.behave();
    sign_in(&app, &provider, ada()).await;
}

/// The scope of a flow, and its parameters for consent and offline access.
async fn asked(app: &TestApp, others: &[(&'static str, &str)]) -> (String, Option<String>, Option<String>) {
    let location = begin(app, others).await;
    let value = |name: &str| location.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    (value("scope").unwrap(), value("prompt"), value("access_type"))
}

/// Only flows that need a refresh token request such a token, and ask the user for consent again.
#[tokio::test]
async fn offline_access_is_asked_for_only_when_linking_or_with_further_scopes() {
    let (app, provider) = start().await;
    provider.publish("scopes_supported", json!(["openid", "email", "offline_access"]));
    app.advance(SignedDuration::from_hours(2));
    let asked = async |others: &[(&'static str, &str)]| asked(&app, others).await;
    assert_eq!(asked(&[]).await, ("openid email profile".to_owned(), None, None));
    let user = app.sign_up("grace@example.com").await;
    let linking = asked(&[("type", "link"), ("token", user.access_token.as_str())]).await;
    assert_eq!(linking, ("openid email profile offline_access".to_owned(), Some("consent".to_owned()), None));
    let more = asked(&[("provider_scope", "email calendar")]).await;
    assert_eq!(more, ("openid email profile offline_access calendar".to_owned(), Some("consent".to_owned()), None));
}

/// An authorization endpoint configured by the project does not reveal which scopes the issuer
/// supports.
#[tokio::test]
async fn offline_access_is_asked_for_at_an_authorization_endpoint_of_the_project_too() {
    let (app, provider) = start().await;
    let mut setting = provider.setting();
    setting["authorization_endpoint"] = json!("https://id.acme.test/authorize?tenant=7");
    app.configure(json!({ "config": { "oauth_providers": [setting] } })).await;
    let user = app.sign_up("grace@example.com").await;
    let linking = asked(&app, &[("type", "link"), ("token", user.access_token.as_str())]).await;
    assert_eq!(linking.0, "openid email profile", "the issuer does not list the scope");

    provider.publish("scopes_supported", json!(["openid", "offline_access"]));
    app.advance(SignedDuration::from_hours(2));
    let user = app.sign_up("alan@example.com").await;
    let link = [("type", "link"), ("token", user.access_token.as_str())];
    provider.requests();
    assert_eq!(asked(&app, &[]).await, ("openid email profile".to_owned(), None, None));
    assert_eq!(provider.requests(), Vec::<String>::new(), "a plain sign-in need not know");
    assert!(begin(&app, &link).await.as_str().starts_with("https://id.acme.test/authorize?tenant=7&"));
    let consent = Some("consent".to_owned());
    assert_eq!(asked(&app, &link).await, ("openid email profile offline_access".to_owned(), consent.clone(), None));
    let more = asked(&app, &[("provider_scope", "calendar")]).await;
    assert_eq!(more, ("openid email profile offline_access calendar".to_owned(), consent, None));
}
