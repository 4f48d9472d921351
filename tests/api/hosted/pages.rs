//! The parts that all pages share, such as project, languages, forms, cookies and headers.

use serde_json::json;
use support::TestApp;

use super::{Browser, form_token, sign_up};

/// Every page that can be opened without a code, each with a text that only this page contains.
const PAGES: [(&str, &str, &str); 6] = [
    ("sign-in", "Sign in to", "anmelden"),
    ("sign-up", "Create your", "Konto bei"),
    ("forgot-password", "Reset your password", "Passwort zurücksetzen"),
    ("password-reset", "Choose a new password", "Neues Passwort wählen"),
    ("sign-out", "You are signed out", "Du bist abgemeldet"),
    ("error", "Something went wrong", "Etwas ist schiefgegangen"),
];

#[tokio::test]
async fn every_page_is_a_small_document_in_each_language() {
    let app = TestApp::start().await;
    app.configure(json!({ "display_name": "Looms & <b>Co</b>" })).await;
    app.offer_passkeys().await;
    let browser = Browser::new(&app);
    for (page, english, german) in PAGES {
        for (language, text) in [("en", english), ("de", german), ("ar-XB", english)] {
            let answer = browser.open(page, &[("ui_locales", language)]).await;
            assert_eq!((answer.status(), answer.header("content-type")), (200, Some("text/html; charset=utf-8")), "{page}");
            assert!(
                answer.text().contains(text) && answer.text().contains(&format!("<html lang=\"{language}\"")),
                "{page}: {}",
                answer.text()
            );
            assert!(answer.text().contains("Looms &amp; &lt;b&gt;Co") && !answer.text().contains("<b>Co"), "{page}");
            assert!(answer.text().len() < 30_000, "{page}: {} bytes", answer.text().len());
        }
    }
}

#[tokio::test]
async fn a_page_may_be_framed_by_nobody_and_load_nothing_from_elsewhere() {
    let app = TestApp::start().await;
    let logo = "https://cdn.example.com/logo.png";
    app.configure(json!({ "logo_url": logo })).await;
    let answer = Browser::new(&app).open("sign-in", &[("after_auth_return_to", "http://localhost:3000/home")]).await;
    let policy = answer.header("content-security-policy").unwrap();
    for part in [
        "default-src 'none'",
        "script-src 'self';",
        "img-src 'self' data: https://cdn.example.com;",
        "form-action 'self' http://localhost:3000;",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{part} in {policy}");
    }
    assert_eq!((answer.header("x-frame-options"), answer.header("cache-control")), (Some("DENY"), Some("no-store")));
    assert_eq!(answer.header("referrer-policy"), Some("same-origin"));
}

#[tokio::test]
async fn the_script_is_cached_under_a_name_that_changes_with_it() {
    let app = TestApp::start().await;
    let browser = Browser::new(&app);
    let page = browser.open("sign-in", &[]).await;
    let (_, rest) = page.text().split_once("<script type=\"module\" src=\"").unwrap();
    let path = rest.split_once('"').unwrap().0.replace("&#x2f;", "/").replace("&amp;", "&");
    let script = browser.get(&path).await;
    assert_eq!((script.status(), script.header("content-type")), (200, Some("text/javascript; charset=utf-8")));
    assert!(script.header("cache-control").unwrap().contains("immutable") && script.text().contains("navigator.credentials"));
    assert_eq!(browser.open("another.js", &[]).await.status(), 404);
}

#[tokio::test]
async fn a_project_is_named_by_the_query_or_by_the_host() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let project = app.project_id().as_str();
    let open = async |path: &str, host: &str| {
        let mut request = anonymous.request("GET", path).build();
        request.headers_mut().insert("host", host.parse().unwrap());
        app.answer(request).await.status().as_u16()
    };
    assert_eq!(open(&format!("/handler/sign-in?project_id={project}"), "localhost:8787").await, 200);
    assert_eq!(open("/handler/sign-in", &format!("{project}.localhost:8787")).await, 200);
    assert_eq!(open("/handler/sign-in", "localhost:8787").await, 400);
    for unknown in ["x", "6fbbf22e-f4b2-4c6e-95a1-beab6fa41063", "internal"] {
        assert_eq!(open(&format!("/handler/sign-in?project_id={unknown}"), "localhost:8787").await, 404, "{unknown}");
    }
    assert_eq!(open("/handler/sign-in", "internal.localhost:8787").await, 404, "administrators sign in to the console");
    // The host takes precedence over the query, because the cookies of the host belong to the
    // project in its name.
    assert_eq!(open("/handler/sign-in?project_id=internal", &format!("{project}.localhost:8787")).await, 200);
}

#[tokio::test]
async fn a_form_is_taken_only_from_the_page_that_this_browser_has() {
    let app = TestApp::start().await;
    let (browser, other) = (Browser::new(&app), Browser::new(&app));
    let path = browser.path("sign-up", &[]);
    let stolen = form_token(&other.get(&path).await);
    browser.get(&path).await;
    let fields = |token: &str| {
        let fields = [("email", "ada@example.com"), ("password", "correct horse battery"), ("form_token", token)];
        fields.map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    for token in ["", "x", stolen.as_str()] {
        let fields = fields(token);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let answer = browser.post(&path, &fields).await;
        assert_eq!(answer.status(), 403, "{token}");
        assert!(answer.text().contains("Submit it again") && answer.text().contains("value=\"ada@example.com\""), "what was typed is kept");
        assert!(!answer.text().contains("correct horse"), "but not a password");
    }
    assert_eq!(app.server().get("/api/v1/users").await.json()["items"].as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn a_form_that_another_site_sends_is_refused_even_with_the_token() {
    let app = TestApp::start().await;
    let browser = Browser::new(&app);
    let path = browser.path("sign-up", &[]);
    let token = form_token(&browser.get(&path).await);
    let fields = [("email", "ada@example.com"), ("password", "correct horse battery"), ("form_token", token.as_str())];
    for (name, value, expected) in [
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("sec-fetch-site", "cross-site", 403),
        ("sec-fetch-site", "same-site", 403),
        ("origin", "http://localhost:8787", 303),
    ] {
        let cookie = format!("gatelet-browser-{}={}", app.project_id(), browser.cookie_of("browser").unwrap());
        let request = app.anonymous().request("POST", &path).header("cookie", &cookie).header(name, value);
        assert_eq!(request.form(&fields).send().await.status(), expected, "{name}: {value}");
    }
}

#[tokio::test]
async fn a_session_of_one_project_is_none_at_another() {
    let app = TestApp::start().await;
    let browser = Browser::new(&app);
    sign_up(&browser, "ada@example.com").await;
    assert!(browser.open("sign-in", &[]).await.text().contains("Continue as ada@example.com"));
    let token = browser.cookie_of("session").unwrap();
    let other = app.another_project().await;
    let cookie = format!("gatelet-session-{}={token}", other.project_id);
    let path = format!("/handler/sign-in?project_id={}", other.project_id);
    let answer = app.anonymous().request("GET", &path).header("cookie", &cookie).send().await;
    assert!(answer.status() == 200 && !answer.text().contains("Continue as"));
}

#[tokio::test]
async fn a_session_that_has_ended_or_is_made_up_is_none() {
    let app = TestApp::start().await;
    let browser = Browser::new(&app);
    sign_up(&browser, "ada@example.com").await;
    let token = browser.cookie_of("session").unwrap();
    for wrong in [format!("{}0", &token[..token.len() - 1]), "x".to_owned(), "0".repeat(90), "é".to_owned()] {
        browser.set_cookie("session", &wrong);
        assert!(!browser.open("sign-in", &[]).await.text().contains("Continue as"), "{wrong}");
    }
    browser.set_cookie("session", &token);
    assert!(browser.open("sign-in", &[]).await.text().contains("Continue as"));
    let ada = app.sign_in("ada@example.com").await;
    assert_eq!(app.signed_in(&ada).delete("/api/v1/auth/sessions").await.status(), 200);
    assert!(!browser.open("sign-in", &[]).await.text().contains("Continue as"));
}

#[tokio::test]
async fn pages_need_no_client_key_and_teach_nobody_else_to_do_without_one() {
    let app = TestApp::start().await.redeployed(|settings| settings.project_cache_seconds = 2);
    app.configure(json!({ "config": { "require_publishable_client_key": true } })).await;
    let browser = Browser::new(&app);
    sign_up(&browser, "ada@example.com").await;
    let without = app.client().without("x-stack-publishable-client-key");
    let refused = without.post("/api/v1/auth/password/sign-in", json!({ "email": "ada@example.com", "password": "correct horse battery" }));
    assert_eq!(refused.await.status(), 401);
}

#[tokio::test]
async fn a_sign_in_page_costs_one_round_trip() {
    let app = TestApp::start().await;
    let browser = Browser::new(&app);
    sign_up(&browser, "ada@example.com").await;
    app.recorder.clear();
    assert_eq!(browser.open("sign-in", &[]).await.status(), 200);
    assert_eq!(app.recorder.calls().len(), 1, "{:?}", app.recorder.calls());
}

#[tokio::test]
async fn passwords_are_masked_and_left_to_password_managers() {
    let app = TestApp::start().await;
    let browser = Browser::new(&app);
    for (page, autocomplete) in [("sign-in", "current-password"), ("sign-up", "new-password"), ("password-reset", "new-password")] {
        let text = browser.open(page, &[]).await.text().to_owned();
        let (_, field) = text.split_once("name=\"password\"").unwrap();
        let field = field.split_once('>').unwrap().0;
        assert!(field.contains("type=\"password\"") && field.contains(&format!("autocomplete=\"{autocomplete}\"")), "{page}: {field}");
        assert!(!field.contains("maxlength") && !field.contains("onpaste") && text.contains("data-shows=\"password\""), "{page}");
    }
}

#[tokio::test]
async fn the_page_behind_the_sign_in_has_a_way_to_sign_out() {
    let app = TestApp::start().await;
    let browser = Browser::new(&app);
    sign_up(&browser, "ada@example.com").await;
    let page = browser.open("account-settings", &[]).await;
    assert!(page.status() == 200 && page.text().contains("/handler/sign-out?".replace('/', "&#x2f;").as_str()), "{}", page.text());
}
