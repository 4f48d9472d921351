//! `GET /api/v1/internal/component-versions`.

use serde_json::json;
use support::TestApp;

#[tokio::test]
async fn component_versions_are_empty() {
    let app = TestApp::start().await;
    let answer = app.anonymous().get("/api/v1/internal/component-versions").await;
    assert_eq!((answer.status(), answer.json()), (200, json!({ "versions": {} })));
}
