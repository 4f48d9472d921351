//! `/api/v1/emails/unsubscribe-link`, the path of the link in an email. The tests cover the link,
//! its page, and one-click unsubscribe in mail clients (RFC 8058).

use jiff::SignedDuration;
use serde_json::json;
use support::{Answer, SignedInUser, TestApp};

use super::preferences::wants_marketing;
use super::send;

/// Sends a marketing email, and returns the path of its unsubscribe link.
async fn link(app: &TestApp, user: &SignedInUser) -> String {
    send(app, user, json!({ "notification_category_name": "Marketing" })).await;
    let mail = app.last_mail(&user.email).await.0;
    let link = mail.text.split_whitespace().find(|word| word.contains("unsubscribe-link?code=")).unwrap().to_owned();
    assert!(mail.html.contains(&link));
    link.strip_prefix(support::API_URL).unwrap().to_owned()
}

async fn click(app: &TestApp, path: &str) -> Answer {
    app.anonymous().request("POST", path).form(&[("List-Unsubscribe", "One-Click")]).send().await
}

#[tokio::test]
async fn the_page_changes_nothing_until_its_form_is_sent() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let path = link(&app, &ada).await;
    for method in ["GET", "GET", "HEAD"] {
        let page = app.anonymous().request(method, &path).send().await;
        assert_eq!((page.status(), page.header("content-type")), (200, Some("text/html; charset=utf-8")));
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        assert!(page.header("content-security-policy").unwrap().contains("form-action 'self'"));
        assert!(method == "HEAD" || page.text().contains("<form method=\"post\">"), "{}", page.text());
    }
    assert_eq!(wants_marketing(&app, &ada).await, true);

    let done = app.anonymous().request("POST", &path).form(&[]).send().await;
    assert!(done.status() == 200 && done.text().contains("You are unsubscribed"), "{}", done.text());
    assert_eq!(wants_marketing(&app, &ada).await, false);
    assert!(app.anonymous().get(&path).await.text().contains("already unsubscribed"));
}

#[tokio::test]
async fn one_click_unsubscribe_works_in_either_media_type() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let path = link(&app, &ada).await;
    assert_eq!(click(&app, &path).await.status(), 200);
    assert_eq!(wants_marketing(&app, &ada).await, false);

    let path = link(&app, &bob).await;
    let form = "--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--\r\n";
    let request = app.anonymous().request("POST", &path).header("content-type", "multipart/form-data; boundary=x").body(form);
    assert_eq!(request.send().await.status(), 200);
    assert_eq!(wants_marketing(&app, &bob).await, false);
}

#[tokio::test]
async fn a_link_works_once_and_does_not_override_a_later_choice() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let path = link(&app, &ada).await;
    let clicks = futures_util::future::join_all((0..5).map(|_| click(&app, &path))).await;
    assert_eq!(clicks.iter().filter(|answer| answer.text().contains("You are unsubscribed")).count(), 1);
    assert!(clicks.iter().all(|answer| answer.status() == 200));

    let preference = format!("{}/4f6f8873-3d04-46bd-8bef-18338b1a1b4c", super::preferences::path("me"));
    assert_eq!(app.signed_in(&ada).patch(&preference, json!({ "enabled": true })).await.status(), 200);
    assert!(click(&app, &path).await.text().contains("already unsubscribed"));
    assert_eq!(wants_marketing(&app, &ada).await, true);
}

#[tokio::test]
async fn links_expire_after_thirty_days_and_unknown_ones_are_rejected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let path = link(&app, &ada).await;
    app.advance(SignedDuration::from_hours(30 * 24));
    for answer in [app.anonymous().get(&path).await, click(&app, &path).await] {
        assert_eq!((answer.status(), answer.header("x-stack-known-error")), (400, Some("VERIFICATION_CODE_EXPIRED")), "{}", answer.text());
    }
    let unknown = format!("/api/v1/emails/unsubscribe-link?code={}", "0".repeat(45));
    for answer in [app.anonymous().get(&unknown).await, click(&app, &unknown).await] {
        assert!(answer.status() == 404 && answer.text().contains("no longer works"), "{}", answer.text());
    }
    // A mail client may have cut off the link.
    for query in ["", "?code=short"] {
        let answer = app.anonymous().get(&format!("/api/v1/emails/unsubscribe-link{query}")).await;
        assert!(answer.status() == 404 && answer.text().contains("no longer works"), "{}", answer.text());
    }
    let answer = app.anonymous().get("/api/v1/emails/unsubscribe-link?code=x&other=y").await;
    assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"));
    assert_eq!(wants_marketing(&app, &ada).await, true);
}

#[tokio::test]
async fn transactional_emails_have_no_unsubscribe_link() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    send(&app, &ada, json!({})).await;
    let mail = app.last_mail(&ada.email).await.0;
    assert!(!mail.html.contains("nsubscribe") && !mail.text.contains("nsubscribe"));
}

#[tokio::test]
async fn the_code_of_a_link_is_not_stored() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let path = link(&app, &ada).await;
    let code = path.split_once("code=").unwrap().1;
    let items = app.table().into_iter().filter(|((pk, _), _)| pk.starts_with("V#")).map(|(key, item)| format!("{key:?} {item}"));
    let items: Vec<String> = items.collect();
    assert!(items.len() == 1 && !items[0].contains(code), "{items:?}");
}

#[tokio::test]
async fn the_name_of_a_project_is_escaped_on_the_page() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.configure(json!({ "display_name": "<script>alert(1)</script>" })).await;
    let path = link(&app, &ada).await;
    let page = app.anonymous().get(&path).await;
    assert!(page.text().contains("&lt;script&gt;") && !page.text().contains("<script"));
}
