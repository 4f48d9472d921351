//! Attacks that use the hosted pages, or the pages of another project, as a tool.

use serde_json::json;
use support::TestApp;

use super::{Browser, sign_up};

const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A service with a project that trusts only one app, and no URL on this machine.
async fn strict() -> TestApp {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "allow_localhost": false, "domains": [{ "domain": "https://app.example.com" }] } })).await;
    app
}

#[tokio::test]
async fn the_pages_of_another_project_get_no_codes() {
    let app = strict().await;
    let (own, other) = (app.project_id().to_string(), app.another_project().await.project_id.to_string());
    let ada = app.sign_up("ada@example.com").await;
    let page = |query: &str| format!("http://localhost:8787/handler/account-settings{query}");
    for (number, (url, status)) in [
        (page(&format!("?project_id={own}")), 200),
        (format!("http://{own}.localhost:8787/handler/account-settings"), 200),
        (page(&format!("?project_id={other}")), 400),
        (page(&format!("?project={other}")), 400),
        (page(&format!("?project_id={own}&project_id={other}")), 400),
        (page(&format!("?project={other}&project_id={own}")), 400),
        (page(""), 400),
        (format!("http://{other}.localhost:8787/handler/account-settings"), 400),
        (format!("http://localhost:8787/api/v1/users?project_id={own}"), 400),
    ]
    .into_iter()
    .enumerate()
    {
        for path in ["/api/v1/auth/otp/send-sign-in-code", "/api/v1/auth/password/send-reset-code"] {
            let answer = app.client().post(path, json!({ "email": "ada@example.com", "callback_url": url })).await;
            assert_eq!(answer.status(), status, "{path} {url}");
        }
        let body = json!({ "redirect_uri": url, "state": "s", "code_challenge": CHALLENGE });
        let caller = app.signed_in(&ada).with("x-stack-refresh-token", &ada.refresh_token);
        assert_eq!(caller.post("/api/v1/auth/oauth/cross-domain/authorize", body).await.status(), status, "{url}");
        let browser = Browser::new(&app);
        sign_up(&browser, &format!("{number}@example.com")).await;
        let query =
            [("after_auth_return_to", &*url), ("hexclave_cross_domain_state", "s"), ("hexclave_cross_domain_code_challenge", CHALLENGE)];
        let back = browser.submit("sign-in", &query, &[("action", "continue")]).await;
        let location = back.header("location").unwrap().to_owned();
        assert!(status == 200 || (!location.contains("code=") && !location.contains(&other)), "{location}");
    }
}

#[tokio::test]
async fn an_app_is_asked_for_its_session_only_at_an_app_of_the_project() {
    let app = strict().await;
    let (own, other) = (app.project_id().to_string(), app.another_project().await.project_id.to_string());
    let ask = async |callback: &str| {
        let query = [
            ("stack_nested_cross_domain_auth_refresh_token_id", "x"),
            ("stack_nested_cross_domain_auth_callback_url", callback),
            ("secret", "of the query"),
        ];
        let answer = Browser::new(&app).open("sign-in", &query).await;
        answer.header("location").map(str::to_owned)
    };
    let asked = ask("https://app.example.com/handler/oauth-callback").await.unwrap();
    assert!(asked.starts_with("https://app.example.com/handler/oauth-callback?") && asked.contains("code_challenge="), "{asked}");
    assert!(!asked.contains("secret"), "the rest of the query stays: {asked}");
    for callback in [
        "https://evil.example/".to_owned(),
        format!("http://localhost:8787/handler/sign-in?project_id={own}"),
        format!("http://localhost:8787/handler/sign-in?project_id={other}"),
        format!("http://{own}.localhost:8787/handler/sign-in"),
        format!("http://{other}.localhost:8787/handler/sign-in"),
    ] {
        assert_eq!(ask(&callback).await, None, "{callback}");
    }
}

#[tokio::test]
async fn only_the_pages_begin_a_flow_without_the_client_key() {
    let app = strict().await;
    let setting = json!({ "id": "github", "client_id": "an-id", "client_secret": "a-secret" });
    app.configure(json!({ "config": { "require_publishable_client_key": true, "oauth_providers": [setting] } })).await;
    let project = app.project_id().to_string();
    for (redirect_uri, status) in [
        (format!("http://localhost:8787/handler/oauth-callback?project_id={project}"), 303),
        (format!("http://localhost:8787/handler/sign-in?project_id={project}"), 200),
        ("https://app.example.com/callback".to_owned(), 200),
        ("https://evil.example/".to_owned(), 200),
    ] {
        let query = [("provider", "github"), ("state", "s"), ("code_challenge", CHALLENGE), ("redirect_uri", &*redirect_uri)];
        let answer = Browser::new(&app).open("oauth-start", &query).await;
        assert_eq!((answer.status(), answer.header("location").is_some()), (status, status == 303), "{redirect_uri}");
    }
}

#[tokio::test]
async fn a_long_query_makes_no_long_page() {
    let app = TestApp::start().await;
    let providers =
        ["github", "google", "discord", "spotify", "facebook"].map(|id| json!({ "id": id, "client_id": "x", "client_secret": "y" }));
    app.configure(json!({ "config": { "oauth_providers": providers } })).await;
    let browser = Browser::new(&app);
    let long = "x".repeat(1500);
    let fields = ["after_auth_return_to", "hexclave_cross_domain_state", "hexclave_cross_domain_code_challenge", "ui_locales"];
    let query = fields.map(|name| (name, &*long));
    let page = browser.open("sign-in", &query).await;
    assert!(page.status() == 200 && page.text().len() < 100_000, "{} bytes", page.text().len());
    let repeated = [("ui_locales", "!!!!!!!!!!"); 100];
    assert!(browser.open("sign-in", &repeated).await.text().len() < 30_000);
    assert_eq!(browser.open("sign-in", &[("x", &*"x".repeat(9000))]).await.status(), 414);
}

#[tokio::test]
async fn a_browser_keeps_few_flows_and_what_is_cached_sets_no_cookie() {
    let app = TestApp::start().await;
    let setting = json!({ "id": "github", "client_id": "an-id", "client_secret": "a-secret" });
    app.configure(json!({ "config": { "oauth_providers": [setting] } })).await;
    let browser = Browser::new(&app);
    for _ in 0..6 {
        assert_eq!(browser.open("oauth-start", &[("provider", "github")]).await.status(), 303);
    }
    assert_eq!(browser.flows(), 3);
    let page = browser.open("sign-in", &[]).await;
    let (_, rest) = page.text().split_once("<script type=\"module\" src=\"").unwrap();
    let path = rest.split_once('"').unwrap().0.replace("&#x2f;", "/").replace("&amp;", "&");
    let script = app.anonymous().get(&path).await;
    assert_eq!((script.status(), script.headers("set-cookie").len()), (200, 0));
}
