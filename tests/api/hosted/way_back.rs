//! The way back from the pages to an app, which the project must trust. The app gets the session as
//! a code.

use serde_json::json;
use support::TestApp;

use super::{Browser, hidden, query_of, sign_up};
use crate::auth::oauth_callback::exchange_of;

/// The challenge for the verifier of [`exchange_of`] (RFC 7636, appendix B).
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const APP: &str = "http://localhost:3000/handler/oauth-callback?hexclave_cross_domain_auth=1";

/// The parameters that the SDK adds to the URL of a hosted page.
const OF_SDK: [(&str, &str); 4] = [
    ("after_auth_return_to", APP),
    ("hexclave_cross_domain_state", "a state"),
    ("hexclave_cross_domain_code_challenge", CHALLENGE),
    ("hexclave_cross_domain_after_callback_redirect_url", "http://localhost:3000/home"),
];

const PASSWORD: [(&str, &str); 3] = [("email", "ada@example.com"), ("password", "correct horse battery"), ("action", "password")];

#[tokio::test]
async fn an_app_gets_the_session_as_a_code() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let browser = Browser::new(&app);
    let answer = browser.submit("sign-in", &OF_SDK, &PASSWORD).await;
    let location = answer.header("location").unwrap().to_owned();
    let query = query_of(&location);
    assert!(answer.status() == 303 && location.starts_with("http://localhost:3000/handler/oauth-callback?"), "{location}");
    assert_eq!(query["state"], "a state");
    let token = browser.cookie_of("session").unwrap();
    assert!(!location.contains(&token));
    let mut exchange = exchange_of(&app, &query["code"]);
    exchange["redirect_uri"] = json!(APP);
    let tokens = app.anonymous().post("/api/v1/auth/oauth/token", exchange).await;
    assert_eq!((tokens.status(), &tokens.json()["refresh_token"]), (200, &json!(token)), "{}", tokens.text());

    // A visitor who is signed in continues without typing anything.
    let again = browser.submit("sign-in", &OF_SDK, &[("action", "continue")]).await;
    assert!(again.header("location").unwrap().starts_with(APP.split('?').next().unwrap()));
}

#[tokio::test]
async fn every_page_carries_the_way_back_along() {
    let app = TestApp::start().await;
    let browser = Browser::new(&app);
    let query = &OF_SDK[..];
    let carried = |text: &str| text.contains("hexclave_cross_domain_state=a") && text.contains(CHALLENGE);
    for page in ["sign-in", "sign-up", "forgot-password"] {
        assert!(carried(browser.open(page, query).await.text()), "{page}");
    }
    let sent = browser.submit("sign-in", query, &[("email", "ada@example.com"), ("action", "code")]).await;
    assert!(carried(sent.text()));
    let link = app.last_mail("ada@example.com").await.link();
    assert!(carried(&link), "{link}");
    let code = query_of(&link)["code"].clone();
    let query: Vec<(&str, &str)> = query.iter().copied().chain([("code", code.as_str())]).collect();
    let answer = browser.submit("magic-link-callback", &query, &[("code", &code), ("action", "sign-in")]).await;
    assert!(answer.header("location").unwrap().starts_with("http://localhost:3000/handler/oauth-callback?"));
}

#[tokio::test]
async fn an_app_that_the_project_does_not_trust_gets_nobody() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    app.configure(json!({ "config": { "allow_localhost": false, "domains": [{ "domain": "https://app.example.com" }] } })).await;
    let account = format!("http://localhost:8787/handler/account-settings?project_id={}", app.project_id());
    for url in [
        "https://evil.example/x",
        "//evil.example/x",
        "/\\evil.example",
        "https://app.example.com@evil.example/",
        "https://app.example.com.evil.example/",
        "javascript:alert(1)",
        "data:text/html,x",
        "http://localhost:8787/api/v1/auth/oauth/callback/github",
        "http://localhost:8787/console",
        "https://app.example.com:8443/",
    ] {
        let browser = Browser::new(&app);
        let page = browser.open("sign-in", &[("after_auth_return_to", url)]).await;
        let policy = page.header("content-security-policy").unwrap().to_owned();
        assert!(policy.contains("form-action 'self';"), "{url}: {policy}");
        let answer = browser.submit("sign-in", &[("after_auth_return_to", url)], &PASSWORD).await;
        assert_eq!(answer.header("location"), Some(account.as_str()), "{url}");
        assert!(page.text().contains("does not trust the app"), "{url}");
    }
    let browser = Browser::new(&app);
    let answer = browser.submit("sign-in", &[("after_auth_return_to", "https://app.example.com/home?a=b")], &PASSWORD).await;
    assert_eq!(answer.header("location"), Some("https://app.example.com/home?a=b"), "without a challenge, there is no code");
}

#[tokio::test]
async fn a_sign_out_leads_back_only_to_a_trusted_app() {
    let app = TestApp::start().await;
    let browser = Browser::new(&app);
    for (url, expected) in
        [("http://localhost:3000/bye", Some("http://localhost:3000/bye")), ("https://evil.example/", None), ("/handler/sign-in", None)]
    {
        let email = format!("{}@example.com", url.len());
        sign_up(&browser, &email).await;
        let answer = browser.submit("sign-out", &[("after_auth_return_to", url)], &[("action", "sign-out")]).await;
        assert_eq!(answer.header("location"), expected, "{url}");
        assert!(browser.cookie_of("session").is_none());
    }
    // Opening the page changes nothing, because an image on another site could open it.
    sign_up(&browser, "carol@example.com").await;
    browser.open("sign-out", &[]).await;
    assert!(browser.open("sign-in", &[]).await.text().contains("Continue as carol@example.com"));
}

#[tokio::test]
async fn an_invitation_waits_until_its_reader_has_signed_in() {
    let app = TestApp::start().await;
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Weavers" })).await.json();
    let body =
        json!({ "team_id": team["id"], "email": "ada@example.com", "callback_url": "http://localhost:8787/handler/team-invitation" });
    assert_eq!(app.server().post("/api/v1/team-invitations/send-code", body).await.status(), 200);
    let code = app.last_mail("ada@example.com").await.code();
    let browser = Browser::new(&app);
    let first = browser.open("team-invitation", &[("code", &code)]).await;
    let location = first.header("location").unwrap().to_owned();
    assert!(location.contains("/handler/sign-in?"), "{location}");
    let back = query_of(&location)["after_auth_return_to"].clone();
    app.sign_in_by_mail("ada@example.com").await;
    browser.submit("sign-in", &[("after_auth_return_to", &back)], &[("email", "ada@example.com"), ("action", "code")]).await;
    let mail = app.last_mail("ada@example.com").await;
    let typed = mail.code();
    let fields = [("code", typed.as_str()), ("action", "sign-in")];
    let query = [("after_auth_return_to", back.as_str()), ("code", typed.as_str())];
    let answer = browser.submit("magic-link-callback", &query, &fields).await;
    let page = answer.header("location").unwrap().to_owned();
    assert!(page.contains("/handler/team-invitation?") && page.contains(&code), "{page}");
    let shown = browser.open("team-invitation", &[("code", &code)]).await;
    assert!(shown.text().contains("Join Weavers") && hidden(&shown, "code") == Some(code.clone()), "{}", shown.text());
    let accepted = browser.submit("team-invitation", &[("code", &code)], &[("code", &code), ("action", "accept")]).await;
    assert!(accepted.text().contains("You have joined the team"), "{}", accepted.text());
}

#[tokio::test]
async fn a_device_signs_in_after_its_code_was_compared() {
    let app = TestApp::start().await;
    let client = app.project_id().as_str();
    let started = app.anonymous().request("POST", "/api/v1/auth/oauth/device_authorization").form(&[("client_id", client)]).send().await;
    assert_eq!(started.status(), 200, "{}", started.text());
    let started = started.json();
    let page = started["verification_uri"].as_str().unwrap();
    assert_eq!(
        page,
        format!("http://{client}.localhost:8787/handler/cli-auth-confirm"),
        "the page of the service, as there is none of the app"
    );
    let browser = Browser::new(&app);
    sign_up(&browser, "ada@example.com").await;
    let user_code = started["user_code"].as_str().unwrap();
    let wrong = browser.open("cli-auth-confirm", &[("user_code", "AAAA-AAAA")]).await;
    assert!(wrong.text().contains("This code is wrong or no longer valid"), "{}", wrong.text());
    let asked = browser.open("cli-auth-confirm", &[("user_code", user_code)]).await;
    assert!(asked.text().contains(user_code) && asked.text().contains("Allow this only if you started it yourself"), "{}", asked.text());
    let fields = [("code", user_code), ("action", "allow")];
    let allowed = browser.submit("cli-auth-confirm", &[("user_code", user_code)], &fields).await;
    assert!(allowed.text().contains("You are signed in on the device"), "{}", allowed.text());
}
