//! Authorization requests, with tests about which requests are refused, where the error is shown,
//! and which error it is.

use serde_json::json;
use support::TestApp;

use super::{RelyingParty, signed_in};
use crate::hosted::{Browser, query_of};

#[tokio::test]
async fn until_the_redirect_uri_is_proved_errors_stay_here() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = Browser::new(&app);
    for changes in [
        &[("client_id", "")][..],
        &[("client_id", "3f0e3c1a-9c0b-4a54-8d1c-0b5f6a7e8d90")],
        &[("client_id", "nonsense")],
        &[("redirect_uri", "")],
        &[("redirect_uri", "https://evil.example/cb")],
        &[("redirect_uri", "https://notes.example.com/cb/")],
        &[("redirect_uri", "https://notes.example.com/cb?x=1")],
        &[("redirect_uri", "https://notes.example.com/cb#x")],
        &[("redirect_uri", "https://notes.example.com@evil.example/cb")],
        &[("redirect_uri", "//notes.example.com/cb")],
    ] {
        let answer = rp.authorize(&browser, changes).await;
        assert_eq!((answer.status(), answer.header("location")), (400, None), "{changes:?}");
        assert!(answer.text().contains("This sign-in link does not work"), "{}", answer.text());
        assert!(!answer.text().contains("evil.example"), "what was sent is not repeated");
    }
    let twice = format!("{}?{}&redirect_uri=https%3A%2F%2Fevil.example%2F", rp.endpoint("authorize"), rp.parameters(&[]));
    assert_eq!(browser.get(&twice).await.status(), 400);
    let other = app.another_project().await;
    let foreign = format!("/api/v1/projects/{}/oauth2/authorize?{}", other.project_id, rp.parameters(&[]));
    assert_eq!(browser.get(&foreign).await.status(), 400, "a client of another project");
    let unknown = format!("/api/v1/projects/3f0e3c1a-9c0b-4a54-8d1c-0b5f6a7e8d90/oauth2/authorize?{}", rp.parameters(&[]));
    assert_eq!(browser.get(&unknown).await.status(), 404);
}

#[tokio::test]
async fn afterwards_the_client_gets_the_error() {
    let app = TestApp::start().await;
    let rp = RelyingParty::with(&app, json!({ "scopes": ["openid", "email"] })).await;
    let browser = Browser::new(&app);
    for (changes, error) in [
        (&[("response_type", "")][..], "invalid_request"),
        (&[("response_type", "token")], "unsupported_response_type"),
        (&[("response_type", "code id_token")], "unsupported_response_type"),
        (&[("response_mode", "fragment")], "invalid_request"),
        (&[("scope", "openid profile")], "invalid_scope"),
        (&[("scope", "openid \u{e9}")], "invalid_scope"),
        (&[("code_challenge", "")], "invalid_request"),
        (&[("code_challenge", "short")], "invalid_request"),
        (&[("code_challenge_method", "plain")], "invalid_request"),
        (&[("code_challenge_method", "")], "invalid_request"),
        (&[("prompt", "none login")], "invalid_request"),
        (&[("prompt", "sometimes")], "invalid_request"),
        (&[("max_age", "soon")], "invalid_request"),
        (&[("request", "eyJ")], "request_not_supported"),
        (&[("request_uri", "https://notes.example.com/r")], "request_uri_not_supported"),
        (&[("registration", "{}")], "registration_not_supported"),
        (&[("resource", "https://api.example.com")], "invalid_target"),
    ] {
        let has_scope = changes.iter().any(|(name, _)| *name == "scope");
        let scope = [("scope", "openid")];
        let answer = rp.authorize(&browser, &[changes, if has_scope { &[] } else { &scope }].concat()).await;
        let location = answer.header("location").unwrap_or_default().to_owned();
        let query = query_of(&location);
        assert!(location.starts_with("https://notes.example.com/cb?"), "{changes:?}: {location} {}", answer.text());
        assert_eq!(
            (query["error"].as_str(), query["iss"].as_str()),
            (error, rp.issuer().as_str()),
            "{changes:?} {}",
            query["error_description"]
        );
        assert_eq!(query["state"], "s t&te", "{changes:?}");
    }
    let long = "a".repeat(2049);
    let answer = rp.authorize(&browser, &[("scope", "openid"), ("state", &long)]).await;
    let query = query_of(answer.header("location").unwrap());
    assert_eq!((query["error"].as_str(), query.get("state")), ("invalid_request", None), "a state that is too long does not come back");
}

#[tokio::test]
async fn unknown_scopes_and_parameters_are_ignored() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let code = rp.code(&browser, &[("scope", "openid x:y"), ("claims", "{}"), ("display", "popup")]).await;
    assert_eq!(rp.redeem(&code).await.json()["scope"], "openid");
}

#[tokio::test]
async fn a_request_can_be_sent_as_a_form() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let fields: Vec<(String, String)> = url::form_urlencoded::parse(rp.parameters(&[]).as_bytes()).into_owned().collect();
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let answer =
        app.anonymous().request("POST", &rp.endpoint("authorize")).header("origin", "https://notes.example.com").form(&fields).send().await;
    assert!(answer.header("location").unwrap().contains("/handler/authorize?"), "{}", answer.text());
}

#[tokio::test]
async fn a_request_ends_after_an_hour_and_with_its_client() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let (first, second) = (rp.request(&browser, &[]).await, rp.request(&browser, &[]).await);
    app.admin().patch(&format!("{}/{}", super::CLIENTS, rp.id), json!({ "redirect_uris": ["https://notes.example.com/other"] })).await;
    let changed = browser.open("authorize", &[("request", &first)]).await;
    assert!(changed.status() == 400 && changed.text().contains("This sign-in has expired"), "{}", changed.text());
    app.admin().patch(&format!("{}/{}", super::CLIENTS, rp.id), json!({ "redirect_uris": [super::REDIRECT] })).await;
    assert_eq!(browser.open("authorize", &[("request", &first)]).await.status(), 200);
    app.advance(jiff::SignedDuration::from_mins(60));
    assert_eq!(browser.open("authorize", &[("request", &second)]).await.status(), 400);
    for name in ["", "nonsense", &"a".repeat(58)] {
        assert_eq!(browser.open("authorize", &[("request", name)]).await.status(), 400, "{name}");
    }
}

#[tokio::test]
async fn a_client_may_leave_pkce_out_only_with_the_switch_and_a_nonce() {
    let app = TestApp::start().await;
    let rp = RelyingParty::with(&app, json!({ "pkce_optional": true })).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let without = [("code_challenge", ""), ("code_challenge_method", "")];
    let code = rp.code(&browser, &without).await;
    let fields = [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", super::REDIRECT)];
    assert_eq!(rp.token(&[&fields[..], &[("code_verifier", super::VERIFIER)]].concat()).await.json()["error"], "invalid_grant");
    assert_eq!(rp.token(&fields).await.status(), 200);
    let answer = rp.authorize(&browser, &[&without[..], &[("nonce", "")]].concat()).await;
    assert_eq!(query_of(answer.header("location").unwrap())["error"], "invalid_request");
}
