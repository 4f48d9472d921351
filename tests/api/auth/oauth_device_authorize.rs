//! `POST /api/v1/auth/oauth/device_authorization`, and the device grant (RFC 8628).

use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use support::{Answer, SignedInUser, TestApp};
use url::Url;

use super::assert_error;
use super::cli_complete::complete;

const PATH: &str = "/api/v1/auth/oauth/device_authorization";
const TOKEN: &str = "/api/v1/auth/oauth/token";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
const PAGE: &str = "http://localhost:3000/device";

async fn ask(app: &TestApp, more: &[(&str, &str)]) -> Answer {
    let project = app.project_id().to_string();
    let form = [("client_id", project.as_str()), ("client_secret", app.keys.client.expose_secret())];
    app.anonymous().request("POST", PATH).form(&[form.as_slice(), more].concat()).send().await
}

pub(super) async fn start(app: &TestApp) -> Value {
    let answer = ask(app, &[("verification_uri", PAGE)]).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

pub(super) async fn poll(app: &TestApp, started: &Value) -> Answer {
    let (project, code) = (app.project_id().to_string(), started["device_code"].as_str().unwrap());
    let secret = app.keys.client.expose_secret();
    let form = [("grant_type", GRANT), ("client_id", &project), ("client_secret", secret), ("device_code", code)];
    app.anonymous().request("POST", TOKEN).form(&form).send().await
}

/// The token endpoint's `error`.
async fn refusal(app: &TestApp, started: &Value) -> String {
    let answer = poll(app, started).await;
    assert_eq!(answer.status(), 400, "{}", answer.text());
    answer.json()["error"].as_str().unwrap().to_owned()
}

async fn decide(app: &TestApp, login_code: &str, mode: &str, by: &SignedInUser) -> Answer {
    let body = json!({ "login_code": login_code, "mode": mode, "refresh_token": by.refresh_token });
    app.client().post("/api/v1/auth/cli/complete", body).await
}

#[tokio::test]
async fn a_user_types_the_code_and_the_device_gets_tokens_once() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let started = start(&app).await;
    assert_eq!((&started["expires_in"], &started["interval"], &started["verification_uri"]), (&json!(900), &json!(5), &json!(PAGE)));
    let typed = started["user_code"].as_str().unwrap();
    assert!(typed.len() == 9 && typed.as_bytes()[4] == b'-', "{typed}");
    let stored = format!("{:?}", app.table());
    assert!(!stored.contains(typed) && !stored.contains(&typed.replace('-', "")), "the table has the digest only");

    assert_eq!(refusal(&app, &started).await, "authorization_pending");
    let sloppy = format!(" {} ", typed.to_lowercase().replace('-', " "));
    assert_eq!(decide(&app, &sloppy, "complete", &ada).await.status(), 200);
    let answer = poll(&app, &started).await;
    assert_eq!((answer.status(), answer.header("cache-control")), (200, Some("no-store")), "{}", answer.text());
    let body = answer.json();
    assert_eq!(body["token_type"], "Bearer");
    let tool = SignedInUser {
        access_token: body["access_token"].as_str().unwrap().to_owned(),
        refresh_token: body["refresh_token"].as_str().unwrap().to_owned(),
        ..ada.clone()
    };
    assert_eq!(app.signed_in(&tool).get("/api/v1/users/me").await.json()["id"], json!(ada.user_id));
    assert_ne!(tool.refresh_token, ada.refresh_token);
    assert_eq!(refusal(&app, &started).await, "invalid_grant");
}

#[tokio::test]
async fn the_complete_uri_has_the_login_code() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let started = start(&app).await;
    let uri = Url::parse(started["verification_uri_complete"].as_str().unwrap()).unwrap();
    assert!(uri.as_str().starts_with(PAGE), "{uri}");
    let (_, code) = uri.query_pairs().find(|(name, _)| name == "login_code").unwrap();
    assert_eq!(complete(&app, &code, &ada.refresh_token).await.status(), 200);
    assert_eq!(poll(&app, &started).await.status(), 200);
}

#[tokio::test]
async fn a_device_that_polls_too_often_must_slow_down() {
    let app = TestApp::start().await;
    let started = start(&app).await;
    assert_eq!(refusal(&app, &started).await, "authorization_pending");
    app.advance(SignedDuration::from_secs(3));
    assert_eq!(refusal(&app, &started).await, "slow_down");
    app.advance(SignedDuration::from_secs(5));
    assert_eq!(refusal(&app, &started).await, "authorization_pending");
}

#[tokio::test]
async fn a_refused_and_an_expired_device_are_told_so() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let started = start(&app).await;
    assert_eq!(decide(&app, started["user_code"].as_str().unwrap(), "deny", &ada).await.status(), 200);
    assert_eq!(refusal(&app, &started).await, "access_denied");

    let late = start(&app).await;
    app.advance(SignedDuration::from_mins(15));
    assert_eq!(refusal(&app, &late).await, "expired_token");
    assert_error(&decide(&app, late["user_code"].as_str().unwrap(), "complete", &ada).await, 400, "INVALID_LOGIN_CODE");
}

#[tokio::test]
async fn codes_of_devices_belong_to_their_project() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let started = start(&app).await;
    let other = app.another_project().await;
    let body = json!({ "login_code": started["user_code"], "mode": "deny" });
    assert_error(&app.client_of(&other).post("/api/v1/auth/cli/complete", body).await, 400, "INVALID_LOGIN_CODE");
    let elsewhere = json!({
        "grant_type": GRANT,
        "client_id": other.project_id,
        "client_secret": other.client.expose_secret(),
        "device_code": started["device_code"],
    });
    assert_eq!(app.anonymous().post(TOKEN, elsewhere).await.json()["error"], "invalid_grant");
    decide(&app, started["user_code"].as_str().unwrap(), "complete", &ada).await;
    let by_user_code = json!({ "device_code": started["user_code"] });
    assert_eq!(refusal(&app, &by_user_code).await, "invalid_grant", "a user code gets no tokens");
    assert_eq!(poll(&app, &started).await.status(), 200);
}

#[tokio::test]
async fn the_page_must_be_trusted_and_defaults_to_that_of_the_first_domain() {
    let app = TestApp::start().await;
    let foreign = ask(&app, &[("verification_uri", "https://evil.example/device")]).await;
    assert_error(&foreign, 400, "REDIRECT_URL_NOT_WHITELISTED");
    assert_eq!(foreign.json()["error"], "invalid_request");
    let hosted = format!("http://{}.localhost:8787/handler/cli-auth-confirm", app.project_id());
    assert_eq!(ask(&app, &[]).await.json()["verification_uri"], hosted, "without a trusted domain");
    app.configure(json!({ "config": { "domains": [{ "domain": "https://app.example.com", "handler_path": "/handler" }] } })).await;
    let started = ask(&app, &[]).await.json();
    assert_eq!(started["verification_uri"], "https://app.example.com/handler/cli-auth-confirm");
}

#[tokio::test]
async fn a_client_authenticates_as_it_does_at_the_token_endpoint() {
    let app = TestApp::start().await;
    let project = app.project_id().to_string();
    for form in [
        vec![("client_id", "no project")],
        vec![("client_id", "00000000-0000-4000-8000-000000000000")],
        vec![("client_id", project.as_str()), ("client_secret", "pck_wrong")],
    ] {
        let answer = app.anonymous().request("POST", PATH).form(&form).send().await;
        assert_eq!(answer.json()["error"], "invalid_client", "{form:?}: {}", answer.text());
    }
    let missing = app.anonymous().request("POST", TOKEN).form(&[("grant_type", GRANT), ("client_id", project.as_str())]).send().await;
    assert_eq!((missing.status(), &missing.json()["error"]), (400, &json!("invalid_request")));
}

#[tokio::test]
async fn guesses_at_user_codes_and_new_devices_are_limited() {
    let app = TestApp::start_with(Limits::off().with(Rule::Code, Some(Rate::new(3, 600)))).await;
    let ada = app.sign_up("ada@example.com").await;
    let started = start(&app).await;
    for guess in ["BBBB-BBBB", "CCCC-CCCC"] {
        assert_error(&decide(&app, guess, "complete", &ada).await, 400, "INVALID_LOGIN_CODE");
    }
    assert_error(&decide(&app, started["user_code"].as_str().unwrap(), "complete", &ada).await, 429, "RATE_LIMITED");
    assert_error(&ask(&app, &[("verification_uri", PAGE)]).await, 429, "RATE_LIMITED");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_exchanges_at_once_one_gets_tokens() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for _ in 0..10 {
        let started = start(&app).await;
        decide(&app, started["user_code"].as_str().unwrap(), "complete", &ada).await;
        let (first, second) = tokio::join!(poll(&app, &started), poll(&app, &started));
        let mut found = [first.status(), second.status()];
        found.sort_unstable();
        assert_eq!(found, [200, 400]);
    }
}
