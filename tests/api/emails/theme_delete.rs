//! `DELETE /api/v1/internal/email-themes/{id}`, which does not delete the theme that the project
//! has selected.

use serde_json::{Value, json};
use support::{Answer, TestApp};

use super::documents::{DEFAULT_THEME, create, read, update};
use super::send;

const CURRENT: &str = "/api/v1/internal/projects/current";

async fn loud(app: &TestApp) -> String {
    create(app, "themes", json!({ "display_name": "Loud", "html_source": "<u>{{ content }}</u>" })).await
}

async fn select(app: &TestApp, theme: &Value) -> Answer {
    app.admin().patch(CURRENT, json!({ "config": { "email_theme": theme } })).await
}

async fn delete(app: &TestApp, theme: &str) -> Answer {
    app.admin().delete(&format!("/api/v1/internal/email-themes/{theme}")).await
}

#[tokio::test]
async fn the_theme_of_the_project_is_deleted_once_another_is_selected() {
    let app = TestApp::start().await;
    let theme = loud(&app).await;
    assert_eq!(select(&app, &json!(theme)).await.status(), 200);
    let refused = delete(&app, &theme).await;
    assert_eq!((refused.status(), refused.code().as_str()), (400, "EMAIL_THEME_SELECTED"), "{}", refused.text());
    assert_eq!(refused.header("x-stack-known-error"), None);
    assert_eq!(read(&app, "themes", &theme).await["display_name"], "Loud");
    assert_eq!(select(&app, &Value::Null).await.status(), 200);
    assert_eq!([delete(&app, &theme).await.status(), delete(&app, &theme).await.status()], [200, 404]);
    // Deleting the project's version of the default theme restores the default.
    update(&app, "themes", DEFAULT_THEME, json!({ "html_source": "<i>{{ content }}</i>" })).await;
    assert_eq!(delete(&app, DEFAULT_THEME).await.status(), 200);
    assert!(read(&app, "themes", DEFAULT_THEME).await["tsx_source"].as_str().unwrap().contains("<mjml"));
}

#[tokio::test(flavor = "multi_thread")]
async fn emails_are_sent_whether_a_theme_is_selected_or_deleted_first() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for round in 0..20 {
        let theme = loud(&app).await;
        let (selected, deleted) =
            tokio::join!(async { select(&app, &json!(theme)).await.status() }, async { delete(&app, &theme).await.status() });
        let is_loud = match (selected, deleted) {
            (200, 400) => true,
            (200 | 400, 200) => false,
            other => panic!("round {round}: {other:?}"),
        };
        send(&app, &ada, json!({ "subject": "x" })).await;
        let html = app.last_mail(&ada.email).await.0.html;
        assert_eq!((html == "<u><p>Hello</p></u>", html.contains("Sent by")), (is_loud, !is_loud), "round {round}: {html}");
        assert_eq!(select(&app, &Value::Null).await.status(), 200);
    }
}
