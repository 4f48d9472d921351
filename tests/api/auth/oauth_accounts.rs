//! Which user a provider account belongs to after it is linked by its address, linked by the user,
//! or used for an upgrade or a sign-up.

use serde_json::{Value, json};
use support::TestApp;
use support::provider::Provider;

use super::assert_error;
use super::oauth_apple_native as native;
use super::oauth_authorize::{authorize, parameters_with};
use super::oauth_callback::{ada, begin, error_of, exchange, flow, landed, parameter, sign_in, start};

async fn strategy(app: &TestApp, provider: &Provider, strategy: &str) {
    app.configure(json!({ "config": { "oauth_providers": [provider.setting()], "oauth_account_merge_strategy": strategy } })).await;
}

fn unverified() -> Value {
    json!({ "sub": "acme|1", "email": "ada@example.com", "email_verified": false })
}

#[tokio::test]
async fn accounts_with_an_address_verified_on_both_sides_are_merged() {
    let (app, provider) = start().await;
    let here = app.sign_in_by_mail("ada@example.com").await;
    let (there, me) = sign_in(&app, &provider, ada()).await;
    assert_eq!(there.user_id, here.user_id);
    assert_eq!(me["oauth_providers"].as_array().unwrap().len(), 1);
    let (again, _) = sign_in(&app, &provider, unverified()).await;
    assert_eq!(again.user_id, here.user_id, "a linked account is found by its id, not by its address");
}

#[tokio::test]
async fn an_address_unverified_by_the_provider_is_not_merged() {
    let (app, provider) = start().await;
    let squatter = app.sign_up("ada@example.com").await;
    let url = flow(&app, &provider, unverified(), &[]).await;
    assert_eq!(error_of(&url), "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE");
    let details: Value = serde_json::from_str(&parameter(&url, "details")).unwrap();
    assert_eq!(details, json!({ "type": "email", "contact_channel_value": "ada@example.com", "would_work_if_email_was_verified": true }));
    assert_eq!(parameter(&url, "state"), "the app's own state");

    app.sign_in_by_mail("eve@example.com").await;
    let mut eve = unverified();
    eve["email"] = "eve@example.com".into();
    let url = flow(&app, &provider, eve, &[]).await;
    assert_eq!(error_of(&url), "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE");
    assert!(parameter(&url, "details").contains(r#""would_work_if_email_was_verified":false"#));
    let me = app.signed_in(&squatter).get("/api/v1/users/me").await.json();
    assert_eq!(me["oauth_providers"], json!([]));
}

#[tokio::test]
async fn the_merge_strategy_of_the_project_applies() {
    let (app, provider) = start().await;
    let here = app.sign_in_by_mail("ada@example.com").await;
    strategy(&app, &provider, "raise_error").await;
    let url = flow(&app, &provider, ada(), &[]).await;
    assert_eq!(error_of(&url), "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE");
    strategy(&app, &provider, "allow_duplicates").await;
    let (there, me) = sign_in(&app, &provider, ada()).await;
    assert_ne!(there.user_id, here.user_id);
    assert_eq!((&me["primary_email"], &me["primary_email_verified"]), (&"ada@example.com".into(), &true.into()));
    // A code that is sent to the address still signs in the first user.
    assert_eq!(app.sign_in_by_mail("ada@example.com").await.user_id, here.user_id);
}

#[tokio::test]
async fn with_sign_up_disabled_only_existing_accounts_sign_in() {
    let (app, provider) = start().await;
    let (known, _) = sign_in(&app, &provider, ada()).await;
    app.configure(json!({ "config": { "sign_up_enabled": false } })).await;
    assert_eq!(sign_in(&app, &provider, ada()).await.0.user_id, known.user_id);
    let url = flow(&app, &provider, json!({ "sub": "acme|2" }), &[]).await;
    assert_eq!(error_of(&url), "SIGN_UP_NOT_ENABLED");
}

#[tokio::test]
async fn an_anonymous_user_is_upgraded_and_keeps_its_id() {
    let (app, provider) = start().await;
    let anonymous = app.client().request("POST", "/api/v1/auth/anonymous/sign-up").send().await.json();
    let token = anonymous["access_token"].as_str().unwrap();
    let landed = flow(&app, &provider, ada(), &[("token", token)]).await;
    let body = super::oauth_callback::exchange(&app, &parameter(&landed, "code")).await.json();
    assert_eq!(body["is_new_user"], true);
    let me = app.client().with("x-stack-access-token", body["access_token"].as_str().unwrap()).get("/api/v1/users/me").await.json();
    assert_eq!((&me["id"], &me["is_anonymous"]), (&anonymous["user_id"], &false.into()));
    assert_eq!((&me["primary_email"], &me["display_name"]), (&"ada@example.com".into(), &"Ada Lovelace".into()));
}

#[tokio::test]
async fn a_user_links_an_account_unless_it_belongs_to_another_user() {
    let (app, provider) = start().await;
    let (ada_there, eve) = (app.sign_up("ada@home.example").await, app.sign_up("eve@home.example").await);
    let link = [("type", "link"), ("token", ada_there.access_token.as_str())];
    let landed = flow(&app, &provider, ada(), &link).await;
    assert_eq!(super::oauth_callback::exchange(&app, &parameter(&landed, "code")).await.json()["is_new_user"], false);
    assert_eq!(sign_in(&app, &provider, ada()).await.0.user_id, ada_there.user_id);
    // Linking an account again is permitted, and does not create a second account.
    flow(&app, &provider, ada(), &link).await;
    let me = app.signed_in(&ada_there).get("/api/v1/users/me").await.json();
    assert_eq!(me["oauth_providers"].as_array().unwrap().len(), 1);

    let url = flow(&app, &provider, ada(), &[("type", "link"), ("token", &eve.access_token)]).await;
    assert_eq!(error_of(&url), "OAUTH_CONNECTION_ALREADY_CONNECTED_TO_ANOTHER_USER");
    // If the user is deleted during the flow, nothing is linked.
    let location = begin(&app, &[("type", "link"), ("token", &eve.access_token)]).await;
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", eve.user_id)).await.status(), 200);
    let (code, state) = provider.allow(&app, &location, json!({ "sub": "acme|3" }));
    let url = super::oauth_callback::landed(&super::oauth_callback::come_back(&app, &code, &state).await);
    assert_eq!(error_of(&url), "CANNOT_GET_OWN_USER_WITHOUT_USER");
}

#[tokio::test]
async fn concurrent_flows_with_a_new_account_create_one_user() {
    let (app, provider) = start().await;
    let mut waiting = Vec::new();
    for _ in 0..30 {
        let location = begin(&app, &[]).await;
        waiting.push(provider.allow(&app, &location, ada()));
    }
    let flows = waiting.iter().map(|(code, state)| super::oauth_callback::come_back(&app, code, state));
    let answers = futures_util::future::join_all(flows).await;
    assert!(answers.iter().all(|answer| answer.status() == 303));
    let users = app.server().get("/api/v1/users").await.json();
    assert_eq!(users["items"].as_array().unwrap().len(), 1);
    let codes = answers.iter().filter(|answer| answer.header("location").unwrap().contains("code=")).count();
    assert!(codes > 0);
}

/// A flow in JSON mode is not bound to a browser. The person who consents at the provider may not
/// be the person who started the flow (RFC 9700 §4.7). The account is linked only when the app
/// exchanges the code.
#[tokio::test]
async fn an_unfinished_flow_links_nothing() {
    let (app, provider) = start().await;
    let eve = app.sign_up("eve@example.com").await;
    flow(&app, &provider, ada(), &[("type", "link"), ("token", &eve.access_token)]).await;
    assert_eq!(app.signed_in(&eve).get("/api/v1/users/me").await.json()["oauth_providers"], json!([]));
    let anonymous = app.client().request("POST", "/api/v1/auth/anonymous/sign-up").send().await.json();
    flow(&app, &provider, ada(), &[("token", anonymous["access_token"].as_str().unwrap())]).await;
    let (ada, _) = sign_in(&app, &provider, ada()).await;
    assert!(ada.user_id != eve.user_id && anonymous["user_id"] != ada.user_id.as_str());
    assert_eq!(app.sign_in_by_mail("ada@example.com").await.user_id, ada.user_id);
}

#[tokio::test]
async fn an_account_linked_by_another_user_meanwhile_is_not_linked() {
    let (app, provider) = start().await;
    let eve = app.sign_up("eve@example.com").await;
    let link = flow(&app, &provider, ada(), &[("type", "link"), ("token", &eve.access_token)]).await;
    let anonymous = app.client().request("POST", "/api/v1/auth/anonymous/sign-up").send().await.json();
    let upgrade = flow(&app, &provider, ada(), &[("token", anonymous["access_token"].as_str().unwrap())]).await;
    sign_in(&app, &provider, ada()).await;
    for (url, status) in [(link, 409), (upgrade, 409)] {
        let late = super::oauth_callback::exchange(&app, &parameter(&url, "code")).await;
        assert_eq!(late.status(), status, "{}", late.text());
    }
    assert_eq!(app.signed_in(&eve).get("/api/v1/users/me").await.json()["oauth_providers"], json!([]));
}

/// An account id is unique only at its provider. Another provider may use the same id for another
/// person.
#[tokio::test]
async fn the_same_account_id_at_two_providers_means_two_users() {
    let (app, acme) = start().await;
    let other = Provider::start().await;
    let mut setting = other.setting();
    setting["id"] = "other".into();
    app.configure(json!({ "config": { "oauth_providers": [acme.setting(), setting] } })).await;
    let account = json!({ "sub": "acme|1" });
    let (ada, _) = sign_in(&app, &acme, account.clone()).await;

    let mut parameters = parameters_with(&app, &[]);
    parameters.push(("response_mode", "json".to_owned()));
    let began = authorize(&app, "other", &parameters).await;
    let location = began.json()["location"].as_str().unwrap().parse().unwrap();
    let (code, state) = other.allow(&app, &location, account.clone());
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("code", &code).append_pair("state", &state).finish();
    let back = landed(&app.anonymous().get(&format!("/api/v1/auth/oauth/callback/other?{query}")).await);
    let tokens = exchange(&app, &parameter(&back, "code")).await.json();
    assert_eq!(tokens["is_new_user"], true, "{tokens}");
    let eve = app.client().with("x-stack-access-token", tokens["access_token"].as_str().unwrap()).get("/api/v1/users/me").await.json();
    assert_ne!(eve["id"], ada.user_id);
    assert_eq!(sign_in(&app, &acme, account).await.0.user_id, ada.user_id);
}

#[tokio::test]
async fn only_one_strategy_hands_an_account_over_to_apple_s_native_sign_in() {
    let (app, apple) = native::start().await;
    let eve = app.sign_up("ada@example.com").await;
    native::configure(&app, &apple, json!({ "oauth_account_merge_strategy": "raise_error" })).await;
    let refused = native::sign_in(&app, &apple, &native::claims(&app, "001.a")).await;
    assert_error(&refused, 409, "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE");
    native::configure(&app, &apple, json!({ "oauth_account_merge_strategy": "allow_duplicates" })).await;
    let other = native::sign_in(&app, &apple, &native::claims(&app, "001.a")).await;
    assert!(other.status() == 200 && other.json()["user_id"] != eve.user_id);
    assert_eq!(app.sign_in("ada@example.com").await.user_id, eve.user_id, "the password stays");
}
