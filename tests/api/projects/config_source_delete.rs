//! `DELETE /api/v1/internal/config/source`.

use serde_json::json;
use support::TestApp;

use super::config_source_read::push;

const PATH: &str = "/api/v1/internal/config/source";

#[tokio::test]
async fn unlinking_keeps_the_values_and_can_be_repeated() {
    let app = TestApp::start().await;
    assert_eq!(push(&app, json!({ "type": "pushed-from-unknown" })).await.status(), 200);
    for _ in 0..2 {
        let answer = app.admin().delete(PATH).await;
        assert_eq!((answer.status(), answer.json()), (200, json!({ "success": true })));
        assert_eq!(app.admin().get(PATH).await.json(), json!({ "source": { "type": "unlinked" } }));
    }
    assert_eq!(app.client().get("/api/v1/projects/current").await.json()["config"]["magic_link_enabled"], true);
    for caller in [app.client(), app.server()] {
        assert_eq!(caller.delete(PATH).await.code(), "INSUFFICIENT_ACCESS_TYPE");
    }
}
