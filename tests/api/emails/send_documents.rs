//! `POST /api/v1/emails/send-email`, with templates, drafts and themes.

use model::document::DocumentKind;
use serde_json::{Value, json};
use support::TestApp;
use wire::id::DocumentId;

use super::documents::{DEFAULT_THEME, SIGN_IN, create, lose_theme, read, update};
use super::render::MODULES;
use super::{OUTBOX, SEND, send};

/// Sends a template or draft to a user, and returns the entry.
async fn send_document(app: &TestApp, to: &support::SignedInUser, fields: Value) -> Value {
    let mut body = json!({ "html": null, "subject": null });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    send(app, to, body).await
}

#[tokio::test]
async fn a_template_is_sent_with_its_variables_theme_and_category() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let theme = create(&app, "themes", json!({ "display_name": "Loud", "html_source": "<u>{{ content }}</u>" })).await;
    let body = json!({
        "display_name": "Offer", "subject_source": "For {{ variables.name }}", "html_source": "<p>{{ variables.name }}</p>",
        "theme_id": theme, "notification_category_name": "Marketing",
    });
    let template = create(&app, "templates", body).await;
    let entry = send_document(&app, &ada, json!({ "template_id": template, "variables": { "name": "A&B" } })).await;
    assert_eq!(entry["email_programmatic_call_template_id"], template.as_str());
    assert_eq!((&entry["created_with"], &entry["theme_id"]), (&json!("programmatic-call"), &json!(theme)));
    let mail = app.last_mail(&ada.email).await.0;
    assert_eq!(mail.subject, "For A&B");
    assert!(mail.html.starts_with("<u><p>A&amp;B</p></u><p ") && mail.html.contains("/emails/unsubscribe-link?code="), "{}", mail.html);
    assert!(mail.text.contains("Unsubscribe: "), "marketing emails can be declined: {}", mail.text);

    send_document(&app, &ada, json!({ "template_id": template, "subject": "Mine", "theme_id": false, "variables": { "name": "x" } })).await;
    let mail = app.last_mail(&ada.email).await.0;
    assert_eq!(mail.subject, "Mine");
    assert!(mail.html.starts_with("<p>x</p><p "), "{}", mail.html);
}

#[tokio::test]
async fn an_entry_keeps_the_template_of_its_creation() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let template = create(&app, "templates", json!({ "display_name": "x", "subject_source": "first" })).await;
    send_document(&app, &ada, json!({ "template_id": template })).await;
    update(&app, "templates", &template, json!({ "subject_source": "second" })).await;
    assert_eq!(app.last_mail(&ada.email).await.0.subject, "first");
}

#[tokio::test]
async fn a_missing_variable_is_a_render_error_that_can_be_fixed() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let template = create(&app, "templates", json!({ "display_name": "x", "html_source": "{{ variables.name }}" })).await;
    let id = send_document(&app, &ada, json!({ "template_id": template })).await["id"].as_str().unwrap().to_owned();
    app.send_emails().await;
    let entry = super::read(&app, &id).await;
    assert_eq!(entry["status"], "render-error");
    assert!(entry["render_error"].as_str().unwrap().starts_with("body.html in line 1: "), "{}", entry["render_error"]);
    let fixed = app.server().patch(&super::path(&id), json!({ "variables": { "name": "Ada" } })).await;
    assert_eq!(fixed.status(), 200);
    assert!(app.last_mail(&ada.email).await.0.html.contains("Ada"));
}

#[tokio::test]
async fn a_sent_draft_has_its_sending_time() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let draft = create(&app, "drafts", json!({ "display_name": "x", "subject_source": "News", "html_source": "<p>News" })).await;
    let now = app.now().as_millisecond();
    let entry = send_document(&app, &ada, json!({ "draft_id": draft })).await;
    assert_eq!((&entry["created_with"], &entry["email_draft_id"]), (&json!("draft"), &json!(draft)));
    assert_eq!(read(&app, "drafts", &draft).await["sent_at_millis"], now);
    assert_eq!(app.last_mail(&ada.email).await.0.subject, "News");
    let list = app.admin().get("/api/v1/internal/email-drafts").await.json();
    assert_eq!(list["drafts"][0]["sent_at_millis"], now);
}

#[tokio::test]
async fn a_draft_with_an_unknown_recipient_is_not_sent() {
    let app = TestApp::start().await;
    let draft = create(&app, "drafts", json!({ "display_name": "x" })).await;
    let nobody = "00000000-0000-4000-8000-000000000000";
    let answer = app.server().post(SEND, json!({ "user_ids": [nobody], "draft_id": draft })).await;
    assert_eq!(answer.code(), "USER_ID_DOES_NOT_EXIST");
    assert_eq!(read(&app, "drafts", &draft).await["sent_at_millis"], Value::Null);
}

#[tokio::test]
async fn templates_of_another_project_do_not_exist() {
    let app = TestApp::start().await;
    let other = app.another_project().await;
    let template = create(&app, "templates", json!({ "display_name": "x" })).await;
    let answer = app.server_of(&other).post(SEND, json!({ "user_ids": [], "template_id": template })).await;
    assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"));
}

#[tokio::test]
async fn emails_without_a_theme_use_that_of_the_project() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let theme = create(&app, "themes", json!({ "display_name": "Loud", "html_source": "<u>{{ content }}</u>" })).await;
    app.configure(json!({ "config": { "email_theme": theme } })).await;
    send(&app, &ada, json!({})).await;
    assert_eq!(app.last_mail(&ada.email).await.0.html, "<u><p>Hello</p></u>");
    let body = json!({ "email": ada.email, "callback_url": "http://localhost:3000/x" });
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", body.clone()).await.status(), 200);
    assert!(app.last_mail(&ada.email).await.0.html.starts_with("<u><h1>"), "the theme applies to built-in emails, too");

    // Emails such as password resets are still sent after the project's theme is deleted.
    lose_theme(&app, &theme).await;
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", body).await.status(), 200);
    assert!(app.last_mail(&ada.email).await.0.html.contains("Sent by"));
}

#[tokio::test]
async fn a_project_cannot_use_an_unknown_theme() {
    let app = TestApp::start().await;
    let stranger = app.another_project().await;
    let answer = app.admin_of(&stranger).post("/api/v1/internal/email-themes", json!({ "display_name": "Theirs" })).await;
    let theirs = answer.json()["id"].clone();
    let current = "/api/v1/internal/projects/current";
    for theme in [json!("00000000-0000-4000-8000-000000000000"), theirs] {
        let answer = app.admin().patch(current, json!({ "display_name": "New", "config": { "email_theme": theme } })).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"));
        assert!(answer.text().contains("body.config.email_theme must be the id of a theme"), "{}", answer.text());
    }
    assert_ne!(app.admin().get(current).await.json()["display_name"], "New");
    let mine = create(&app, "themes", json!({ "display_name": "Mine" })).await;
    for (theme, after) in
        [(json!(mine), mine.as_str()), (json!(DEFAULT_THEME), DEFAULT_THEME), (json!(mine), &mine), (Value::Null, DEFAULT_THEME)]
    {
        let answer = app.admin().patch(current, json!({ "config": { "email_theme": theme } })).await;
        assert_eq!((answer.status(), &answer.json()["config"]["email_theme"]), (200, &json!(after)));
    }
}

#[tokio::test]
async fn a_deleted_theme_is_a_render_error_of_its_emails() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let theme = create(&app, "themes", json!({ "display_name": "Loud" })).await;
    let id = send(&app, &ada, json!({ "theme_id": theme })).await["id"].as_str().unwrap().to_owned();
    assert_eq!(app.admin().delete(&format!("/api/v1/internal/email-themes/{theme}")).await.status(), 200);
    app.send_emails().await;
    let entry = app.server().get(&format!("{OUTBOX}/{id}")).await.json();
    assert_eq!(entry["status"], "render-error");
    assert!(entry["render_error"].as_str().unwrap().contains("no longer exists"));
    let unknown = app.server().patch(&format!("{OUTBOX}/{id}"), json!({ "theme_id": theme })).await;
    assert!(unknown.code() == "SCHEMA_ERROR" && unknown.text().contains("body.theme_id"));
}

#[tokio::test]
async fn deleting_the_theme_of_a_built_in_email_locks_nobody_out() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let theme = create(&app, "themes", json!({ "display_name": "Loud", "html_source": "<u>{{ content }}</u>" })).await;
    update(&app, "templates", SIGN_IN, json!({ "theme_id": theme })).await;
    let send = || async {
        let body = json!({ "email": ada.email, "callback_url": "http://localhost:3000/handler/magic-link-callback" });
        assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.status(), 200);
        app.last_mail(&ada.email).await
    };
    assert!(send().await.0.html.starts_with("<u>"));
    assert_eq!(app.admin().delete(&format!("/api/v1/internal/email-themes/{theme}")).await.status(), 200);
    let mail = send().await;
    assert!(!mail.0.html.contains("<u>") && !mail.code().is_empty(), "{}", mail.0.html);
}

/// Writes a module into a document, which an earlier version permitted.
async fn store_module(app: &TestApp, kind: DocumentKind, id: &str, module: &str) {
    let (store, project) = (&app.app.store, app.project_id());
    let mut row = store.mail_document(project, kind, DocumentId::parse(id).unwrap()).await.unwrap().unwrap();
    row.document.html = module.to_owned();
    store.write_mail_document(project, kind, &row).await.unwrap();
}

#[tokio::test]
async fn a_stored_module_is_not_sent() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let html = json!({ "display_name": "x", "html_source": "<p>x</p>" });
    let [template, draft] = [create(&app, "templates", html.clone()).await, create(&app, "drafts", html).await];
    let theme = create(&app, "themes", json!({ "display_name": "x" })).await;
    for module in MODULES {
        store_module(&app, DocumentKind::Template, &template, module).await;
        store_module(&app, DocumentKind::Draft, &draft, module).await;
        store_module(&app, DocumentKind::Theme, &theme, &format!("<!-- {{{{ content }}}} -->{module}")).await;
        for (fields, part) in [
            (json!({ "template_id": template }), "body.html"),
            (json!({ "draft_id": draft }), "body.html"),
            (json!({ "html": "<p>x</p>", "theme_id": theme }), "theme.html"),
        ] {
            let id = send_document(&app, &ada, fields).await["id"].as_str().unwrap().to_owned();
            app.send_emails().await;
            let entry = super::read(&app, &id).await;
            assert_eq!(entry["status"], "render-error", "{module}");
            let error = entry["render_error"].as_str().unwrap();
            assert!(error.starts_with(&format!("{part} looks like TSX")), "{error}");
        }
        let preview = app.admin().post("/api/v1/emails/render-email", json!({ "template_id": template })).await;
        assert_eq!((preview.status(), preview.code().as_str()), (400, "EMAIL_RENDERING_ERROR"));
    }
    assert!(app.sent_to(&ada.email).is_empty());
}
