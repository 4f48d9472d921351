//! `GET /api/v1/passkeys`.

use serde_json::json;
use support::TestApp;

const PATH: &str = "/api/v1/passkeys";

#[tokio::test]
async fn a_server_is_answered_and_a_client_is_refused() {
    let app = TestApp::start().await;
    let wanted = json!({
        "caller_project_id": app.project_id().as_str(),
    });
    let answer = app.server().request("GET", PATH).send().await;
    assert_eq!((answer.status(), answer.json()), (200, wanted));

    let refused = app.client().request("GET", PATH).send().await;
    assert_eq!((refused.status(), refused.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
    let unknown = app.server().request("GET", &format!("{PATH}?nonsense=1")).send().await;
    assert_eq!((unknown.status(), unknown.code().as_str()), (400, "SCHEMA_ERROR"));
}
