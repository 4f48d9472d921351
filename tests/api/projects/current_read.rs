//! `GET /api/v1/projects/current`.

use serde_json::json;
use support::TestApp;

use super::{CURRENT, public_config};

#[tokio::test]
async fn any_client_can_read_the_sign_in_methods() {
    let app = TestApp::start().await;
    let expected = json!({ "id": app.project_id(), "display_name": "Development", "config": public_config() });
    for caller in [app.client(), app.server(), app.admin(), app.client().without("x-stack-publishable-client-key")] {
        let answer = caller.get(CURRENT).await;
        assert_eq!((answer.status(), answer.json()), (200, expected.clone()));
    }
}

#[tokio::test]
async fn providers_are_listed_without_their_credentials() {
    let app = TestApp::start().await;
    let provider = json!({ "id": "github", "client_id": "the-client-id", "client_secret": "the-secret" });
    app.configure(json!({ "config": { "oauth_providers": [provider], "domains": [{ "domain": "https://app.example.com" }] } })).await;
    let answer = app.client().get(CURRENT).await;
    assert_eq!(answer.json()["config"]["enabled_oauth_providers"], json!([{ "id": "github" }]));
    assert_eq!(answer.json()["config"]["domains"], json!([{ "domain": "https://app.example.com", "handler_path": "/handler" }]));
    assert!(!answer.text().contains("the-client-id") && !answer.text().contains("the-secret"));
}

#[tokio::test]
async fn a_project_can_only_be_read_with_its_own_keys() {
    let app = TestApp::start().await;
    let other = app.another_project().await;
    assert_eq!(app.client_of(&other).get(CURRENT).await.json()["id"], json!(other.project_id));
    let id = other.project_id.as_str();
    let wrong = [
        (app.client(), "INVALID_PUBLISHABLE_CLIENT_KEY"),
        (app.server(), "INVALID_SECRET_SERVER_KEY"),
        (app.admin(), "INVALID_SUPER_SECRET_ADMIN_KEY"),
    ];
    for (caller, code) in wrong {
        let answer = caller.with("x-stack-project-id", id).get(CURRENT).await;
        assert_eq!((answer.status(), answer.code().as_str()), (401, code));
    }
    let nowhere = app.client().with("x-stack-project-id", "00000000-0000-4000-8000-000000000000").get(CURRENT).await;
    assert_eq!((nowhere.status(), nowhere.code().as_str()), (400, "CURRENT_PROJECT_NOT_FOUND"));
    assert_eq!(app.anonymous().get(CURRENT).await.code(), "ACCESS_TYPE_REQUIRED");
}
