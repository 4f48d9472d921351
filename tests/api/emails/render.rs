//! `POST /api/v1/emails/render-email`.

use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::{Answer, TestApp};

use super::OUTBOX;
use super::documents::{create, lose_theme};

/// Email sources in TSX with several layouts.
pub(super) const MODULES: [&str; 4] = [
    "import { Html } from 'x';\nexport function EmailTemplate() { return <Html/>; }",
    " import { Html } from 'x';\n export function EmailTemplate() { return <Html/>; }",
    "\n\n\texport default () => <p>Hello</p>",
    "const Email = () => <p>Hello</p>; export default Email",
];

async fn render(app: &TestApp, body: Value) -> Answer {
    app.admin().post("/api/v1/emails/render-email", body).await
}

#[tokio::test]
async fn a_preview_renders_the_source_without_sending() {
    let app = TestApp::start().await;
    let body = json!({ "template_html_source": "<p>{{ variables.x }}</p>", "theme_html_source": "<i>{{ content }}</i>", "template_subject_source": "S", "variables": { "x": "<" } });
    let answer = render(&app, body).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let text = answer.json()["text"].as_str().unwrap().trim().to_owned();
    assert_eq!((text.as_str(), answer.json()["html"].as_str()), ("<", Some("<i><p>&lt;</p></i>")));
    assert_eq!((&answer.json()["subject"], &answer.json()["notification_category"]), (&json!("S"), &json!("Transactional")));
    assert_eq!(app.server().get(OUTBOX).await.json()["items"], json!([]));
}

#[tokio::test]
async fn previews_count_as_writes_of_the_administrator() {
    let app = TestApp::start_with(Limits::off().with(Rule::WriteServer, Some(Rate::new(2, 600)))).await;
    let preview = json!({ "template_html_source": "<p>x</p>" });
    for _ in 0..2 {
        assert_eq!(render(&app, preview.clone()).await.status(), 200);
    }
    let refused = render(&app, preview).await;
    assert_eq!((refused.status(), &refused.json()["details"]["limit"]), (429, &json!("write")), "{}", refused.text());
    assert!(refused.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok_and(|seconds| seconds > 0)));
}

#[tokio::test]
async fn every_built_in_email_has_an_example() {
    let app = TestApp::start().await;
    let templates = app.admin().get("/api/v1/internal/email-templates").await.json();
    for template in templates["templates"].as_array().unwrap() {
        let answer = render(&app, json!({ "template_id": template["id"] })).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        assert!(answer.json()["html"].as_str().unwrap().contains("Sent by"));
    }
}

#[tokio::test]
async fn a_preview_has_the_default_theme_after_that_of_the_project_is_deleted() {
    let app = TestApp::start().await;
    let theme = create(&app, "themes", json!({ "display_name": "Loud", "html_source": "<u>{{ content }}</u>" })).await;
    app.configure(json!({ "config": { "email_theme": theme } })).await;
    let source = json!({ "template_html_source": "<p>x</p>" });
    assert_eq!(render(&app, source.clone()).await.json()["html"], "<u><p>x</p></u>");
    lose_theme(&app, &theme).await;
    let answer = render(&app, source).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert!(answer.json()["html"].as_str().unwrap().contains("Sent by"), "{}", answer.text());
    let named = render(&app, json!({ "template_html_source": "<p>x</p>", "theme_id": theme })).await;
    assert_eq!((named.status(), named.code().as_str()), (400, "SCHEMA_ERROR"), "the request names a theme that does not exist");
}

#[tokio::test]
async fn a_preview_after_the_theme_of_its_template_is_deleted_is_as_the_email() {
    let app = TestApp::start().await;
    let templates = app.admin().get("/api/v1/internal/email-templates").await.json();
    let builtin = templates["templates"][0]["id"].as_str().unwrap().to_owned();
    let theme = create(&app, "themes", json!({ "display_name": "Loud", "html_source": "<u>{{ content }}</u>" })).await;
    let own = json!({ "display_name": "Own", "html_source": "<p>x</p>", "theme_id": theme });
    let own = create(&app, "templates", own).await;
    let path = format!("/api/v1/internal/email-templates/{builtin}");
    assert_eq!(app.admin().patch(&path, json!({ "html_source": "<p>x</p>", "theme_id": theme })).await.status(), 200);
    for template in [&builtin, &own] {
        assert_eq!(render(&app, json!({ "template_id": template })).await.json()["html"], "<u><p>x</p></u>");
    }
    assert_eq!(app.admin().delete(&format!("/api/v1/internal/email-themes/{theme}")).await.status(), 200);

    // Built-in emails use the default theme. Other emails are not sent.
    let answer = render(&app, json!({ "template_id": builtin })).await;
    assert!(answer.json()["html"].as_str().unwrap().contains("Sent by"), "{}", answer.text());
    let answer = render(&app, json!({ "template_id": own })).await;
    assert!(answer.code() == "SCHEMA_ERROR" && answer.text().contains("a template whose theme was deleted"), "{}", answer.text());
    assert_eq!(render(&app, json!({ "template_id": own, "theme_id": false })).await.json()["html"], "<p>x</p>");
}

#[tokio::test]
async fn a_render_error_is_reported_with_its_line() {
    let app = TestApp::start().await;
    for (source, reason) in [
        ("<p>\n{{ variables.nobody }}", "body.html in line 2: undefined variable `variables.nobody`"),
        ("{% for x in %}", "body.html in line 1: syntax error"),
        ("<mjml><mj-body></mjml>", "body.html: not MJML"),
        ("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", "body.html in line 1: engine ran out of fuel"),
    ] {
        let answer = render(&app, json!({ "template_tsx_source": source })).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "EMAIL_RENDERING_ERROR"), "{source}");
        let error = answer.json()["details"]["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with(reason), "{source}: {error}");
        assert_eq!(answer.header("x-stack-known-error"), Some("EMAIL_RENDERING_ERROR"));
    }
}

/// If a module were accepted, recipients would see its source code.
#[tokio::test]
async fn a_module_is_refused_however_it_is_laid_out() {
    let app = TestApp::start().await;
    for module in MODULES {
        for field in ["template_tsx_source", "template_html_source", "theme_tsx_source", "theme_html_source"] {
            let mut body = json!({ "template_html_source": "<p>Hello</p>" });
            if field == "template_tsx_source" {
                body = json!({});
            }
            body[field] = json!(module);
            let answer = render(&app, body).await;
            assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{field}: {module}");
            assert!(answer.text().contains(&format!("body.{field} looks like TSX")), "{}", answer.text());
        }
    }
    let sample = json!({ "template_html_source": "<pre>\n  import { a } from 'b';\n</pre>", "theme_id": false });
    assert_eq!(render(&app, sample).await.status(), 200);
}

#[tokio::test]
async fn exactly_one_template_is_required_and_a_theme_must_exist() {
    let app = TestApp::start().await;
    let nobody = "00000000-0000-4000-8000-000000000000";
    let template = create(&app, "templates", json!({ "display_name": "x" })).await;
    for (body, path) in [
        (json!({}), "template_id or template_html_source"),
        (json!({ "template_id": template, "template_html_source": "x" }), "template_id or template_html_source"),
        (json!({ "template_id": nobody }), "body.template_id"),
        (json!({ "template_id": template, "theme_id": nobody }), "body.theme_id"),
        (json!({ "template_id": template, "editable_markers": true }), "body.editable_markers"),
    ] {
        let answer = render(&app, body).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"));
        assert!(answer.text().contains(path), "{path}: {}", answer.text());
    }
    let bare = render(&app, json!({ "template_html_source": "<p>x</p>", "theme_id": false })).await;
    assert_eq!(bare.json()["html"], "<p>x</p>");
}
