//! `PATCH /api/v1/internal/email-templates/{id}`, which stores only templates that can be rendered.

use model::document::{DocumentKind, MailDocument};
use model::project::config::Level;
use serde_json::{Value, json};
use store::document::DocumentRow;
use support::{Answer, TestApp};
use wire::id::DocumentId;

use super::documents::{SIGN_IN, create, lose_theme, read};

async fn patch(app: &TestApp, id: &str, body: Value) -> Answer {
    app.admin().patch(&format!("/api/v1/internal/email-templates/{id}"), body).await
}

fn error(answer: &Answer) -> String {
    assert_eq!((answer.status(), answer.code().as_str()), (400, "EMAIL_RENDERING_ERROR"), "{}", answer.text());
    answer.json()["details"]["error"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_update_returns_the_html_of_the_template_in_its_theme() {
    let app = TestApp::start().await;
    let theme = create(&app, "themes", json!({ "display_name": "Loud", "html_source": "<u>{{ content }}</u>" })).await;
    let id = create(&app, "templates", json!({ "display_name": "Mine" })).await;
    let html = async |body| {
        let answer = patch(&app, &id, body).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        answer.json()
    };
    let bare = html(json!({ "tsx_source": "<p>{{ user.display_name }}</p>", "theme_id": false })).await;
    assert_eq!(bare, json!({ "rendered_html": "<p>Ada Lovelace</p>" }));
    assert_eq!(html(json!({ "theme_id": theme })).await["rendered_html"], "<u><p>Ada Lovelace</p></u>");
    assert_eq!(html(json!({})).await["rendered_html"], "<u><p>Ada Lovelace</p></u>", "the template keeps its theme");
    assert!(html(json!({ "theme_id": null })).await["rendered_html"].as_str().unwrap().contains("Sent by"), "that of the project");
    let refusable = html(json!({ "theme_id": false, "notification_category_name": "Marketing" })).await;
    assert!(refusable["rendered_html"].as_str().unwrap().contains("Unsubscribe"), "{refusable}");
}

#[tokio::test]
async fn new_html_of_a_built_in_template_replaces_its_text_too() {
    let app = TestApp::start().await;
    let text = async |body| {
        let answer = patch(&app, SIGN_IN, body).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        read(&app, "templates", SIGN_IN).await["text_source"].clone()
    };
    let ours = read(&app, "templates", SIGN_IN).await["text_source"].clone();
    assert!(ours.as_str().unwrap().contains("variables.otp"), "{ours}");
    assert_eq!(text(json!({ "subject_source": "Your code" })).await, ours);
    assert_eq!(text(json!({ "tsx_source": "<p>Ihr Code: {{ variables.otp }}</p>" })).await, Value::Null);
    let body = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x" });
    assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.status(), 200);
    let mail = app.last_mail("ada@example.com").await;
    assert!(mail.0.text.starts_with("Ihr Code: ") && !mail.0.text.contains("Sign in to"), "{}", mail.0.text);
    // A text that the project has written is kept.
    let own = json!("Code: {{ variables.otp }}");
    assert_eq!(text(json!({ "text_source": own, "html_source": "<p>x</p>" })).await, own);
    assert_eq!(text(json!({ "html_source": "<p>y</p>" })).await, own);
    assert_eq!(text(json!({ "text_source": ours, "html_source": "<p>z</p>" })).await, ours);
}

#[tokio::test]
async fn variables_of_a_template_have_placeholders() {
    let app = TestApp::start().await;
    let id = create(&app, "templates", json!({ "display_name": "Mine" })).await;
    for (source, html) in [
        ("{{ variables.name }}", "name"),
        ("{{ variables.order.items[0].title | upper }}", "TITLE"),
        ("{% for item in variables.items %}{{ item.name }} {{ loop.length }}{% endfor %}", "name 1"),
        ("{% if variables.is_late and variables.count > 3 %}late{% else %}in time{% endif %}", "late"),
        ("{{ variables.price | default(1.26) | round(1) }}", "1.3"),
        ("{{ variables['<b>'] }}", "&lt;b&gt;"),
    ] {
        let answer = patch(&app, &id, json!({ "html_source": source, "theme_id": false })).await;
        assert_eq!((answer.status(), answer.json()["rendered_html"].as_str()), (200, Some(html)), "{source}: {}", answer.text());
    }
    // Previews and emails do not contain placeholders.
    let preview = app.admin().post("/api/v1/emails/render-email", json!({ "template_id": id })).await;
    assert!(error(&preview).starts_with("body.html in line 1: undefined"));
}

#[tokio::test]
async fn a_template_that_cannot_be_rendered_is_not_stored() {
    let app = TestApp::start().await;
    let broken_theme = create(&app, "themes", json!({ "display_name": "No body", "html_source": "<p>Nothing</p>" })).await;
    let own = create(&app, "templates", json!({ "display_name": "Mine" })).await;
    let before = app.table();
    for (id, body, reason) in [
        (own.as_str(), json!({ "html_source": "{% for x in %}" }), "body.html in line 1: syntax error"),
        (&own, json!({ "html_source": "<p>\n{{ user.nam }}" }), "body.html in line 2: undefined variable `user.nam`"),
        (&own, json!({ "html_source": "{{ variables.x | nothing }}" }), "body.html in line 1: unknown filter"),
        (&own, json!({ "html_source": "<mjml><mj-body></mjml>" }), "body.html: not MJML"),
        (&own, json!({ "subject_source": "{{ subject }}" }), "subject in line 1: undefined variable"),
        (&own, json!({ "subject_source": " " }), "subject: is empty"),
        (&own, json!({ "text_source": "{% if %}" }), "text in line 1: syntax error"),
        (&own, json!({ "theme_id": broken_theme }), "theme.html: {{ content }} occurs 0 times"),
        // Built-in emails have known variables.
        (SIGN_IN, json!({ "html_source": "{{ variables.code }}" }), "body.html in line 1: undefined variable `variables.code`"),
    ] {
        let reported = error(&patch(&app, id, body.clone()).await);
        assert!(reported.starts_with(reason), "{body}: {reported}");
    }
    assert_eq!(app.table(), before);
}

#[tokio::test]
async fn a_broken_template_of_an_earlier_version_is_kept_until_corrected() {
    let app = TestApp::start().await;
    let id = create(&app, "templates", json!({ "display_name": "Mine" })).await;
    let (store, project) = (&app.app.store, app.project_id());
    let row = store.mail_document(project, DocumentKind::Template, DocumentId::parse(&id).unwrap()).await.unwrap().unwrap();
    let broken = MailDocument { html: "{{ nothing }}".to_owned(), ..row.document.clone() };
    let row = DocumentRow { document: broken, level: Level::Environment, ..row };
    store.write_mail_document(project, DocumentKind::Template, &row).await.unwrap();
    assert!(error(&patch(&app, &id, json!({ "display_name": "Renamed" })).await).contains("undefined variable `nothing`"));
    assert_eq!(read(&app, "templates", &id).await["tsx_source"], "{{ nothing }}");
    assert_eq!(patch(&app, &id, json!({ "display_name": "Renamed", "tsx_source": "<p>x</p>" })).await.status(), 200);
    assert_eq!(read(&app, "templates", &id).await["display_name"], "Renamed");
}

#[tokio::test]
async fn the_theme_of_a_template_must_exist() {
    let app = TestApp::start().await;
    let theme = create(&app, "themes", json!({ "display_name": "Loud", "html_source": "<u>{{ content }}</u>" })).await;
    let own = create(&app, "templates", json!({ "display_name": "Mine", "html_source": "<p>x</p>", "theme_id": theme })).await;
    assert_eq!(patch(&app, SIGN_IN, json!({ "html_source": "<p>x</p>", "theme_id": theme })).await.status(), 200);
    lose_theme(&app, &theme).await;
    for (id, body, problem) in [
        (own.as_str(), json!({ "theme_id": theme }), "body.theme_id must be the id of a theme"),
        (SIGN_IN, json!({ "theme_id": theme }), "body.theme_id must be the id of a theme"),
        (&own, json!({ "html_source": "<p>y</p>" }), "body.theme_id must name another theme"),
    ] {
        let answer = patch(&app, id, body.clone()).await;
        assert!(answer.code() == "SCHEMA_ERROR" && answer.text().contains(problem), "{body}: {}", answer.text());
    }
    assert_eq!(read(&app, "templates", &own).await["html_source"], "<p>x</p>");
    // Built-in emails use the default theme.
    let builtin = patch(&app, SIGN_IN, json!({ "html_source": "<p>y</p>" })).await;
    assert!(builtin.json()["rendered_html"].as_str().unwrap().contains("Sent by"), "{}", builtin.text());
    assert_eq!(patch(&app, &own, json!({ "html_source": "<p>y</p>", "theme_id": false })).await.json()["rendered_html"], "<p>y</p>");
}
