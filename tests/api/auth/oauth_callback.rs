//! `GET` and `POST /api/v1/auth/oauth/callback/{provider_id}`, where a provider redirects the user.
//! The operations issue a code to the app.

use serde_json::{Value, json};
use support::provider::Provider;
use support::{Answer, SignedInUser, TestApp};
use url::Url;

use super::oauth_authorize::{authorize, parameters_with};
use super::{assert_error, opens_own_data};

pub(crate) const TOKEN: &str = "/api/v1/auth/oauth/token";
/// The verifier from RFC 7636, appendix B. Valid requests contain the challenge of this verifier.
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(crate) const REDIRECT_URI: &str = "http://localhost:3000/handler/callback";

/// A service with a project that accepts the test provider, which is running.
pub(crate) async fn start() -> (TestApp, Provider) {
    let (app, provider) = (TestApp::start().await, Provider::start().await);
    app.configure(json!({ "config": { "oauth_providers": [provider.setting()] } })).await;
    (app, provider)
}

pub(crate) fn ada() -> Value {
    json!({ "sub": "acme|1", "email": "ada@example.com", "email_verified": true, "name": "Ada Lovelace", "picture": "https://p.example/ada.png" })
}

/// Starts a flow in JSON mode, and returns the URL at the provider.
pub(crate) async fn begin(app: &TestApp, others: &[(&'static str, &str)]) -> Url {
    let mut parameters = parameters_with(app, others);
    parameters.push(("response_mode", "json".to_owned()));
    let answer = authorize(app, "acme", &parameters).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()["location"].as_str().unwrap().parse().unwrap()
}

/// Follows the provider's redirect back to the service.
pub(crate) async fn come_back(app: &TestApp, code: &str, state: &str) -> Answer {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("code", code).append_pair("state", state).finish();
    app.anonymous().get(&format!("/api/v1/auth/oauth/callback/acme?{query}")).await
}

/// Runs a complete flow with an account at the provider, and returns the URL that the app receives.
pub(crate) async fn flow(app: &TestApp, provider: &Provider, account: Value, others: &[(&'static str, &str)]) -> Url {
    let location = begin(app, others).await;
    let (code, state) = provider.allow(app, &location, account);
    landed(&come_back(app, &code, &state).await)
}

#[track_caller]
pub(crate) fn landed(answer: &Answer) -> Url {
    assert_eq!(answer.status(), 303, "{}", answer.text());
    answer.header("location").unwrap().parse().unwrap()
}

pub(crate) fn parameter(url: &Url, name: &str) -> String {
    url.query_pairs().find(|(key, _)| key == name).unwrap_or_else(|| panic!("no {name} in {url}")).1.into_owned()
}

/// The error code in the URL that the app receives.
pub(crate) fn error_of(url: &Url) -> String {
    assert_eq!(parameter(url, "error"), "server_error");
    assert!(!url.query_pairs().any(|(name, _)| name == "code"), "{url}");
    parameter(url, "errorCode")
}

pub(crate) fn exchange_of(app: &TestApp, code: &str) -> Value {
    json!({
        "grant_type": "authorization_code", "client_id": app.project_id(), "client_secret": "__stack_public_client__", "code": code,
        "redirect_uri": REDIRECT_URI, "code_verifier": VERIFIER,
    })
}

pub(crate) async fn exchange(app: &TestApp, code: &str) -> Answer {
    app.anonymous().post(TOKEN, exchange_of(app, code)).await
}

/// Signs in with an account at the provider.
pub(crate) async fn sign_in(app: &TestApp, provider: &Provider, account: Value) -> (SignedInUser, Value) {
    let landed = flow(app, provider, account, &[]).await;
    let answer = exchange(app, &parameter(&landed, "code")).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let mut body = answer.json();
    let me = app.client().with("x-stack-access-token", body["access_token"].as_str().unwrap()).get("/api/v1/users/me").await.json();
    body["user_id"] = me["id"].clone();
    (SignedInUser::of(me["primary_email"].as_str().unwrap_or_default(), &body), me)
}

#[tokio::test]
async fn a_new_account_signs_up_and_then_signs_in() {
    let (app, provider) = start().await;
    let landed = flow(&app, &provider, ada(), &[("after_callback_redirect_url", "http://localhost:3000/welcome")]).await;
    assert!(landed.as_str().starts_with(REDIRECT_URI) && landed.fragment().is_none(), "{landed}");
    assert_eq!(parameter(&landed, "state"), "the app's own state");
    let answer = exchange(&app, &parameter(&landed, "code")).await;
    assert_eq!((answer.status(), answer.header("cache-control")), (200, Some("no-store")));
    let body = answer.json();
    assert_eq!((&body["newUser"], &body["is_new_user"], &body["token_type"]), (&true.into(), &true.into(), &"Bearer".into()));
    assert_eq!(body["after_callback_redirect_url"], "http://localhost:3000/welcome");

    let (again, me) = sign_in(&app, &provider, ada()).await;
    assert!(opens_own_data(&app, &again).await);
    assert_eq!((&me["display_name"], &me["profile_image_url"]), (&"Ada Lovelace".into(), &"https://p.example/ada.png".into()));
    assert_eq!((&me["primary_email"], &me["primary_email_verified"]), (&"ada@example.com".into(), &true.into()));
    let account = &me["oauth_providers"][0];
    assert_eq!((&account["id"], &account["account_id"]), (&"acme".into(), &"acme|1".into()));
    assert_eq!(app.server().get("/api/v1/users").await.json()["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_address_missing_from_the_id_token_is_read_from_userinfo() {
    let (app, provider) = start().await;
    let mut account = ada();
    account["userinfo"] = true.into();
    let (_, me) = sign_in(&app, &provider, account).await;
    assert_eq!((&me["primary_email"], &me["primary_email_verified"]), (&"ada@example.com".into(), &true.into()));
    assert!(provider.requests().contains(&"userinfo".to_owned()));
}

#[tokio::test]
async fn a_form_post_callback_is_accepted() {
    let (app, provider) = start().await;
    let location = begin(&app, &[]).await;
    let mut account = ada();
    account.as_object_mut().unwrap().remove("name");
    let (code, state) = provider.allow(&app, &location, account);
    let name = r#"{"name":{"firstName":"Ada","lastName":"King"}}"#;
    let form = [("code", code.as_str()), ("state", &state), ("user", name)];
    let answer = app.anonymous().request("POST", "/api/v1/auth/oauth/callback/acme").form(&form).send().await;
    let body = exchange(&app, &parameter(&landed(&answer), "code")).await.json();
    let me = app.client().with("x-stack-access-token", body["access_token"].as_str().unwrap()).get("/api/v1/users/me").await.json();
    assert_eq!(me["display_name"], "Ada King");
}

#[tokio::test]
async fn in_redirect_mode_the_flow_is_bound_to_its_browser() {
    let (app, provider) = start().await;
    let begin = || async { authorize(&app, "acme", &parameters_with(&app, &[])).await };
    let (own, other) = (begin().await, begin().await);
    let location: Url = own.header("location").unwrap().parse().unwrap();
    let cookie = |answer: &Answer| answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let (code, state) = provider.allow(&app, &location, ada());
    let path = format!("/api/v1/auth/oauth/callback/acme?code={code}&state={state}");

    let stranger = app.anonymous().with("cookie", &cookie(&other)).get(&path).await;
    assert_error(&stranger, 400, "OAUTH_STATE_NOT_FOUND");
    assert!(stranger.header("set-cookie").unwrap().contains("Max-Age=0"));
    // The attempt with the cookie of another browser has invalidated the state.
    assert_error(&app.anonymous().with("cookie", &cookie(&own)).get(&path).await, 400, "OAUTH_STATE_NOT_FOUND");

    let own = begin().await;
    let (code, state) = provider.allow(&app, &own.header("location").unwrap().parse().unwrap(), ada());
    let path = format!("/api/v1/auth/oauth/callback/acme?code={code}&state={state}");
    let browser = app.anonymous().with("cookie", &format!("theme=dark; {}; x=y", cookie(&own)));
    let answer = browser.get(&path).await;
    assert!(parameter(&landed(&answer), "code").len() == 64 && answer.header("set-cookie").unwrap().contains("Max-Age=0"));

    // In an earlier version, the name of the cookie contained the whole state.
    let (code, state) = provider.allow(&app, &begin().await.header("location").unwrap().parse().unwrap(), ada());
    let browser = app.anonymous().with("cookie", &format!("gatelet-oauth-inner-{state}=true"));
    landed(&browser.get(&format!("/api/v1/auth/oauth/callback/acme?code={code}&state={state}")).await);
}

#[tokio::test]
async fn a_state_works_once_for_its_provider_within_ten_minutes() {
    let (app, provider) = start().await;
    let other = json!({ "id": "other", "client_id": "x", "client_secret": "y", "issuer": provider.issuer });
    app.configure(json!({ "config": { "oauth_providers": [provider.setting(), other] } })).await;
    let (code, state) = provider.allow(&app, &begin(&app, &[]).await, ada());
    landed(&come_back(&app, &code, &state).await);
    assert_error(&come_back(&app, &code, &state).await, 400, "OAUTH_STATE_NOT_FOUND");

    // One provider's state does not work with another provider (RFC 9700 §4.4).
    let (code, state) = provider.allow(&app, &begin(&app, &[]).await, ada());
    provider.requests();
    let mixed = app.anonymous().get(&format!("/api/v1/auth/oauth/callback/other?code={code}&state={state}")).await;
    assert_error(&mixed, 400, "OAUTH_STATE_NOT_FOUND");
    assert_eq!(provider.requests(), Vec::<String>::new());

    for state in ["", "unknown", "unknown.6a0c5a8e-58a1-4b0e-9a51-000000000001", &format!("x.{}", app.project_id())] {
        assert_error(&come_back(&app, "code", state).await, 400, "OAUTH_STATE_NOT_FOUND");
    }
    let (code, state) = provider.allow(&app, &begin(&app, &[]).await, ada());
    app.advance(jiff::SignedDuration::from_mins(11));
    provider.requests();
    assert_eq!(error_of(&landed(&come_back(&app, &code, &state).await)), "OUTER_OAUTH_TIMEOUT");
    assert_eq!(provider.requests(), Vec::<String>::new(), "the code is not exchanged");
    let (code, state) = provider.allow(&app, &begin(&app, &[]).await, ada());
    app.advance(jiff::SignedDuration::from_mins(11));
    app.configure(json!({ "config": { "allow_localhost": false } })).await;
    assert_error(&come_back(&app, &code, &state).await, 408, "OUTER_OAUTH_TIMEOUT");
}

/// The cookie and the record of a flow outlive the flow, so the user does not end up on a page of
/// the API.
#[tokio::test]
async fn a_user_who_returns_late_in_redirect_mode_gets_back_to_the_app() {
    let (app, provider) = start().await;
    let begun = authorize(&app, "acme", &parameters_with(&app, &[])).await;
    let (code, state) = provider.allow(&app, &begun.header("location").unwrap().parse().unwrap(), ada());
    let cookie = begun.header("set-cookie").unwrap();
    assert!(cookie.contains("Max-Age=3600"), "{cookie}");
    let stored = app.table().into_iter().find(|((_, sk), _)| sk == "STATE").unwrap().1;
    let expiry: i64 = stored["ttl"]["N"].as_str().unwrap().parse().unwrap();
    assert!(expiry >= app.now().as_second() + 3600, "the record lasts as long as the cookie");
    app.advance(jiff::SignedDuration::from_mins(30));
    let browser = app.anonymous().with("cookie", cookie.split(';').next().unwrap());
    let url = landed(&browser.get(&format!("/api/v1/auth/oauth/callback/acme?code={code}&state={state}")).await);
    assert!(url.as_str().starts_with(REDIRECT_URI), "{url}");
    assert_eq!(error_of(&url), "OUTER_OAUTH_TIMEOUT");
    assert_eq!(app.server().get("/api/v1/users").await.json()["items"], json!([]));
}

#[tokio::test]
async fn a_response_of_another_issuer_is_rejected_as_a_mix_up() {
    let (app, provider) = start().await;
    for (issuer, is_right) in [("https://evil.example", false), (provider.issuer.as_str(), true)] {
        let (code, state) = provider.allow(&app, &begin(&app, &[]).await, ada());
        let answer = app.anonymous().get(&format!("/api/v1/auth/oauth/callback/acme?code={code}&state={state}&iss={issuer}")).await;
        let url = landed(&answer);
        assert_eq!(url.query_pairs().any(|(name, _)| name == "code"), is_right, "{url}");
    }
}

#[tokio::test]
async fn a_head_request_does_not_finish_a_flow() {
    let (app, provider) = start().await;
    let (code, state) = provider.allow(&app, &begin(&app, &[]).await, ada());
    let path = format!("/api/v1/auth/oauth/callback/acme?code={code}&state={state}");
    assert_eq!(app.anonymous().request("HEAD", &path).send().await.status(), 204);
    landed(&app.anonymous().get(&path).await);
}
