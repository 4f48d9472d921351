//! `POST /api/v1/auth/passkey/initiate-passkey-registration`.

use serde_json::json;
use support::TestApp;

const PATH: &str = "/api/v1/auth/passkey/initiate-passkey-registration";

#[tokio::test]
async fn a_server_is_answered_and_a_client_is_refused() {
    let app = TestApp::start().await;
    let wanted = json!({
        "caller_project_id": app.project_id().as_str(),
        "text": "Hello",
    });
    let answer = app.server().request("POST", PATH).json(&json!({ "text": "Hello" })).send().await;
    assert_eq!((answer.status(), answer.json()), (200, wanted));

    let refused = app.client().request("POST", PATH).json(&json!({ "text": "Hello" })).send().await;
    assert_eq!((refused.status(), refused.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
    let unknown = app.server().request("POST", &format!("{PATH}?nonsense=1")).json(&json!({ "text": "Hello" })).send().await;
    assert_eq!((unknown.status(), unknown.code().as_str()), (400, "SCHEMA_ERROR"));
}
