//! The built-in emails, and their replacement by custom templates.

use serde_json::json;
use support::{Mail, TestApp};

use super::documents::update;

const SIGN_IN: &str = "822687fe-8d0a-4467-a0d1-416b6e639478";

async fn sign_in_mail(app: &TestApp) -> Mail {
    let body = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x?a=1" });
    assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.status(), 200);
    app.last_mail("ada@example.com").await
}

#[tokio::test]
async fn a_sign_in_email_has_the_code_and_the_link_in_both_parts() {
    let app = TestApp::start().await;
    let mail = sign_in_mail(&app).await;
    let code = mail.code();
    let typed = code[..6].to_uppercase();
    let name = app.client().get("/api/v1/projects/current").await.json()["display_name"].as_str().unwrap().to_owned();
    assert_eq!(mail.0.subject, format!("Sign in to {name}: Your code is {typed}"));
    assert!(mail.0.html.contains(&format!("{typed}</p>")), "{}", mail.0.html);
    assert!(mail.0.html.contains(&format!("http://localhost:3000/x?a=1&amp;code={code}")));
    assert!(mail.0.text.contains(&format!("http://localhost:3000/x?a=1&code={code}")));
}

#[tokio::test]
async fn a_custom_template_replaces_the_default_until_deleted() {
    let app = TestApp::start().await;
    let own = json!({ "subject_source": "{{ variables.otp }}!", "html_source": "<p>{{ variables.link }}</p>", "text_source": null, "theme_id": false });
    update(&app, "templates", SIGN_IN, own).await;
    let mail = sign_in_mail(&app).await;
    assert_eq!(mail.0.subject, format!("{}!", mail.code()[..6].to_uppercase()));
    assert!(mail.0.html.starts_with("<p>http://localhost:3000/x?a=1&amp;code="), "{}", mail.0.html);
    let redeemed = app.client().post("/api/v1/auth/otp/sign-in", json!({ "code": mail.code() })).await;
    assert_eq!(redeemed.status(), 200, "{}", redeemed.text());

    let list = app.server().get(super::OUTBOX).await.json();
    assert_eq!(list["items"][0]["html_source"], "<p>{{ variables.link }}</p>", "the entry shows its source");
    assert_eq!(app.admin().delete(&format!("/api/v1/internal/email-templates/{SIGN_IN}")).await.status(), 200);
    assert!(sign_in_mail(&app).await.0.subject.contains("Your code is"));
}

#[tokio::test]
async fn an_edited_entry_keeps_its_content() {
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x" });
    assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.status(), 200);
    let id = app.server().get(super::OUTBOX).await.json()["items"][0]["id"].as_str().unwrap().to_owned();
    let edit = app.server().patch(&super::path(&id), json!({ "subject_source": "Edited" })).await;
    assert_eq!(edit.status(), 200);
    update(&app, "templates", SIGN_IN, json!({ "subject_source": "Overridden", "html_source": "<p>x</p>" })).await;
    let mail = app.last_mail("ada@example.com").await;
    assert_eq!(mail.0.subject, "Edited");
    assert!(mail.0.html.contains("Type this code"));
}
