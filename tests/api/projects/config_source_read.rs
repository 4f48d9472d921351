//! `GET /api/v1/internal/config/source`.

use serde_json::{Value, json};
use support::{Answer, TestApp};

const PATH: &str = "/api/v1/internal/config/source";
const BRANCH: &str = "/api/v1/internal/config/override/branch";

pub(super) async fn push(app: &TestApp, source: Value) -> Answer {
    let body = json!({ "config_string": "{\"auth.otp.allowSignIn\":true}", "source": source });
    app.admin().request("PUT", BRANCH).json(&body).send().await
}

fn github() -> Value {
    json!({
        "type": "pushed-from-github", "owner": "acme", "repo": "notes", "branch": "main", "commit_hash": "0123abcd",
        "config_file_path": "stack.config.ts", "workflow_path": ".github/workflows/push.yml",
    })
}

async fn source(app: &TestApp) -> Value {
    let answer = app.admin().get(PATH).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()["source"].clone()
}

#[tokio::test]
async fn the_last_push_determines_the_source() {
    let app = TestApp::start().await;
    assert_eq!(source(&app).await, json!({ "type": "unlinked" }));
    assert_eq!(push(&app, github()).await.status(), 200);
    assert_eq!(source(&app).await, github());
    // Other changes to the project do not change the source.
    app.configure(json!({ "display_name": "Notes" })).await;
    let patch = json!({ "config_override_string": "{\"auth.allowSignUp\":false}" });
    assert_eq!(app.admin().patch(BRANCH, patch).await.status(), 200);
    let environment = json!({ "config_string": "{}", "source": { "type": "pushed-from-unknown" } });
    let replaced = app.admin().request("PUT", "/api/v1/internal/config/override/environment").json(&environment).send().await;
    assert_eq!(replaced.status(), 200, "{}", replaced.text());
    assert_eq!(source(&app).await, github());
    assert_eq!(push(&app, json!({ "type": "pushed-from-unknown" })).await.status(), 200);
    assert_eq!(source(&app).await, json!({ "type": "pushed-from-unknown" }));
}

#[tokio::test]
async fn an_invalid_source_is_rejected_and_changes_nothing() {
    let app = TestApp::start().await;
    let mut long = github();
    long["config_file_path"] = json!("x".repeat(1025));
    let mut more = github();
    more["token"] = json!("x");
    for wrong in [json!({}), json!({ "type": "elsewhere" }), json!({ "type": "pushed-from-github" }), long, more, json!("unlinked")] {
        let refused = push(&app, wrong.clone()).await;
        assert_eq!((refused.status(), refused.code().as_str()), (400, "SCHEMA_ERROR"), "{wrong}: {}", refused.text());
        assert!(refused.text().contains("body.source"), "{}", refused.text());
    }
    assert_eq!(source(&app).await, json!({ "type": "unlinked" }));
    for caller in [app.client(), app.server()] {
        assert_eq!(caller.get(PATH).await.code(), "INSUFFICIENT_ACCESS_TYPE");
    }
}
