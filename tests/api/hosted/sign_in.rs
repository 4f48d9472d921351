//! Signing in and signing up on the pages, in every way that works without scripts.

use serde_json::json;
use support::{TestApp, authenticator_code};

use super::{Browser, hidden, query_of, sign_up};

const SECRET: &[u8; 20] = b"12345678901234567890";

/// The page that opens after a sign-in if the visitor did not come from an app.
fn account(app: &TestApp) -> String {
    format!("http://localhost:8787/handler/account-settings?project_id={}", app.project_id())
}

/// The path of a link in an email.
fn path(link: &str) -> &str {
    link.strip_prefix("http://localhost:8787").unwrap()
}

#[tokio::test]
async fn an_account_is_created_verified_and_signed_in_to() {
    let app = TestApp::start().await;
    let browser = Browser::new(&app);
    sign_up(&browser, "ada@example.com").await;
    let link = app.last_mail("ada@example.com").await.link();
    let code = query_of(&link)["code"].clone();
    let opened = browser.get(path(&link)).await;
    assert!(opened.text().contains("Verify my address") && hidden(&opened, "code") == Some(code.clone()));
    let verified = async || app.server().get("/api/v1/users").await.json()["items"][0]["primary_email_verified"].clone();
    assert_eq!(verified().await, false, "mail scanners open links, too");
    let answer = browser.submit("email-verification", &[("code", &code)], &[("code", &code)]).await;
    assert!(answer.text().contains("Your address is verified"), "{}", answer.text());
    assert_eq!(verified().await, true);

    let out = browser.submit("sign-out", &[], &[("action", "sign-out")]).await;
    assert!(out.text().contains("You are signed out") && browser.cookie_of("session").is_none());
    let fields = [("email", " ada@example.com "), ("password", "correct horse battery"), ("action", "password")];
    let answer = browser.submit("sign-in", &[], &fields).await;
    assert_eq!((answer.status(), answer.header("location")), (303, Some(account(&app).as_str())));
    assert!(browser.open("sign-in", &[]).await.text().contains("Last used"));
}

#[tokio::test]
async fn a_refusal_keeps_what_was_typed_but_no_password() {
    let app = TestApp::start().await;
    let browser = Browser::new(&app);
    for (page, email, password, status, text) in [
        ("sign-in", "ada@example.com", "not her password", 400, "The email address or password is wrong."),
        ("sign-in", "\"><script>alert(1)</script>", "not her password", 400, "The email address or password is wrong."),
        ("sign-up", "ada", "correct horse battery", 400, "Enter an email address"),
        ("sign-up", "ada@example.com", "short", 400, "Use at least 8 characters."),
        ("sign-up", "ada@example.com", "password123", 400, "too easy to guess"),
    ] {
        let answer = browser.submit(page, &[], &[("email", email), ("password", password), ("action", "password")]).await;
        assert_eq!(answer.status(), status, "{page} {email}");
        assert!(answer.text().contains(text), "{text}: {}", answer.text());
        assert!(!answer.text().contains(password) && !answer.text().contains("<script>alert"), "{page} {email}");
    }
    let answer = browser.submit("sign-in", &[], &[("email", "ada@example.com"), ("password", "x"), ("action", "password")]).await;
    assert!(answer.text().contains("value=\"ada@example.com\""));
}

#[tokio::test]
async fn a_code_from_an_email_signs_in_here_and_its_link_in_any_browser() {
    let app = TestApp::start().await;
    let (browser, phone) = (Browser::new(&app), Browser::new(&app));
    let sent = browser.submit("sign-in", &[], &[("email", "ada@example.com"), ("action", "code")]).await;
    let nonce = hidden(&sent, "nonce").unwrap();
    assert!(sent.status() == 200 && sent.text().contains("We sent a code to ada@example.com"));
    let mail = app.last_mail("ada@example.com").await;
    let code = mail.code();
    let typed = code.strip_suffix(&nonce).unwrap().to_uppercase();
    let enter = async |typed: &str| {
        let fields = [("email", "ada@example.com"), ("nonce", nonce.as_str()), ("code", typed), ("action", "enter-code")];
        browser.submit("sign-in", &[], &fields).await
    };
    let wrong = enter("000000").await;
    assert!(wrong.status() == 404 && wrong.text().contains("This code is wrong") && hidden(&wrong, "nonce") == Some(nonce.clone()));
    let right = enter(&format!("{} {}", &typed[..3], &typed[3..])).await;
    assert_eq!((right.status(), right.header("location")), (303, Some(account(&app).as_str())), "{}", right.text());

    browser.submit("sign-in", &[], &[("email", "ada@example.com"), ("action", "code")]).await;
    let link = app.last_mail("ada@example.com").await.link();
    let code = query_of(&link)["code"].clone();
    assert!(phone.get(path(&link)).await.text().contains("Press the button to sign in"));
    let answer = phone.submit("magic-link-callback", &[("code", &code)], &[("code", &code), ("action", "sign-in")]).await;
    assert_eq!(answer.status(), 303);
    let again = phone.submit("magic-link-callback", &[("code", &code)], &[("code", &code), ("action", "sign-in")]).await;
    assert!(again.text().contains("Start again"), "{}", again.text());
}

#[tokio::test]
async fn a_forgotten_password_is_replaced() {
    let app = TestApp::start().await;
    let browser = Browser::new(&app);
    sign_up(&browser, "ada@example.com").await;
    for email in ["ada@example.com", "nobody@example.com"] {
        let sent = browser.submit("forgot-password", &[], &[("email", email)]).await;
        assert!(sent.text().contains("an email with a link is on its way"), "the same, whether or not there is an account");
    }
    let link = app.last_mail("ada@example.com").await.link();
    let code = query_of(&link)["code"].clone();
    assert_eq!(hidden(&browser.get(path(&link)).await, "code"), Some(code.clone()));
    let set = async |password: &str| browser.submit("password-reset", &[("code", &code)], &[("code", &code), ("password", password)]).await;
    let weak = set("short").await;
    assert!(weak.text().contains("Use at least 8 characters.") && hidden(&weak, "code") == Some(code.clone()));
    assert!(set("another horse battery").await.text().contains("Your password has been changed"));
    assert!(set("a third horse battery").await.text().contains("Send link"), "the way to another link");
    let old = [("email", "ada@example.com"), ("password", "correct horse battery"), ("action", "password")];
    assert_eq!(browser.submit("sign-in", &[], &old).await.status(), 400);
    let new = [("email", "ada@example.com"), ("password", "another horse battery"), ("action", "password")];
    assert_eq!(browser.submit("sign-in", &[], &new).await.status(), 303);
}

#[tokio::test]
async fn a_second_factor_is_asked_for_and_a_device_remembered() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "second_factor": { "remember_device_days": 30 } } })).await;
    let ada = app.sign_up("ada@example.com").await;
    let totp = json!({ "totp_secret_base64": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=" });
    assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", totp).await.status(), 200);
    let browser = Browser::new(&app);
    let password = [("email", "ada@example.com"), ("password", "correct horse battery"), ("action", "password")];
    let asked = browser.submit("sign-in", &[], &password).await;
    assert!(asked.status() == 200 && asked.text().contains("Confirm that it is you") && browser.cookie_of("session").is_none());
    let (attempt, factors) = (hidden(&asked, "attempt").unwrap(), hidden(&asked, "factors").unwrap());
    let enter = async |code: &str| {
        let fields =
            [("attempt", attempt.as_str()), ("factors", factors.as_str()), ("totp", code), ("remember", "yes"), ("action", "totp")];
        let token = super::form_token(&browser.open("sign-in", &[]).await);
        browser.post(&browser.path("mfa", &[]), &[&[("form_token", token.as_str())], &fields[..]].concat()).await
    };
    let wrong = enter("000000").await;
    assert!(wrong.text().contains("This code is wrong, or was used before") && hidden(&wrong, "attempt") == Some(attempt.clone()));
    let code = authenticator_code(SECRET, app.now().as_second());
    let right = enter(&format!("{} {}", &code[..3], &code[3..])).await;
    assert_eq!(right.status(), 303, "{}", right.text());
    assert!(browser.cookie_of("device").is_some());

    browser.submit("sign-out", &[], &[("action", "sign-out")]).await;
    assert_eq!(browser.submit("sign-in", &[], &password).await.status(), 303, "the device stands in for the second factor");
    assert!(Browser::new(&app).submit("sign-in", &[], &password).await.text().contains("Confirm that it is you"));
}

#[tokio::test]
async fn a_restricted_user_is_told_what_is_missing() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "require_email_verification": true } })).await;
    let browser = Browser::new(&app);
    sign_up(&browser, "ada@example.com").await;
    let page = browser.open("onboarding", &[]).await;
    assert!(page.text().contains("Verify your address ada@example.com first"), "{}", page.text());
    let sent = browser.submit("onboarding", &[], &[("action", "send")]).await;
    assert!(sent.text().contains("We sent another link to ada@example.com"), "{}", sent.text());
    let code = app.last_mail("ada@example.com").await.code();
    browser.submit("email-verification", &[("code", &code)], &[("code", &code)]).await;
    assert_eq!(browser.submit("onboarding", &[], &[("action", "continue")]).await.status(), 303);
}
