//! `POST /api/v1/analytics/events/batch`.

use serde_json::json;
use support::TestApp;

const PATH: &str = "/api/v1/analytics/events/batch";

#[tokio::test]
async fn all_batches_are_accepted_and_nothing_is_stored() {
    let app = TestApp::start().await;
    let before = app.table();
    let gzipped: &[u8] = &[0x1f, 0x8b, 0x08, 0x00, 0x00];
    let requests = [
        app.client().request("POST", PATH).json(&json!({ "events": [{ "event_type": "$page-view" }] })),
        app.client().request("POST", PATH).header("content-type", "application/octet-stream").body(gzipped),
        app.client().request("POST", PATH).header("content-type", "application/json").body("{ not JSON"),
        app.anonymous().request("POST", PATH),
    ];
    for request in requests {
        let answer = request.send().await;
        assert_eq!((answer.status(), answer.json()), (200, json!({ "inserted": 0 })));
    }
    assert_eq!(app.table(), before);
}
