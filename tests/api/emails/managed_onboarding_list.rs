//! `GET /api/v1/internal/emails/managed-onboarding/list`.

use serde_json::json;
use support::TestApp;

const PATH: &str = "/api/v1/internal/emails/managed-onboarding/list";

#[tokio::test]
async fn the_list_of_managed_domains_is_empty() {
    let app = TestApp::start().await;
    let answer = app.admin().get(PATH).await;
    assert_eq!((answer.status(), answer.json()), (200, json!({ "items": [], "is_paginated": false })));
    let refused = app.server().get(PATH).await;
    assert_eq!((refused.status(), refused.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
}
