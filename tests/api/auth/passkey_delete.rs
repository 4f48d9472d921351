//! `DELETE /api/v1/passkeys/{user_id}/{passkey_id}`.

use serde_json::json;
use support::TestApp;

const PATH: &str = "/api/v1/passkeys/0f9b6c1e-2f4b-4d7a-8a34-5b9f0c6d7e81/some-passkey-id";

#[tokio::test]
async fn a_server_is_answered_and_a_client_is_refused() {
    let app = TestApp::start().await;
    let wanted = json!({
        "caller_project_id": app.project_id().as_str(),
        "user_id": "0f9b6c1e-2f4b-4d7a-8a34-5b9f0c6d7e81",
        "passkey_id": "some-passkey-id",
    });
    let answer = app.server().request("DELETE", PATH).send().await;
    assert_eq!((answer.status(), answer.json()), (200, wanted));

    let refused = app.client().request("DELETE", PATH).send().await;
    assert_eq!((refused.status(), refused.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
    let unknown = app.server().request("DELETE", &format!("{PATH}?nonsense=1")).send().await;
    assert_eq!((unknown.status(), unknown.code().as_str()), (400, "SCHEMA_ERROR"));
}
