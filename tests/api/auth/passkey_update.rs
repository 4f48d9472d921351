//! `PATCH /api/v1/passkeys/{user_id}/{passkey_id}`.

use serde_json::json;
use support::TestApp;

use super::{assert_error, problems};

#[tokio::test]
async fn a_passkey_is_renamed_by_its_user_or_a_server() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    app.add_passkey(&ada, 1).await;
    let list = app.signed_in(&ada).get("/api/v1/passkeys?user_id=me").await.json();
    let id = list["items"][0]["id"].as_str().unwrap().to_owned();
    let (me, named) = (format!("/api/v1/passkeys/me/{id}"), format!("/api/v1/passkeys/{}/{id}", ada.user_id));
    assert_eq!(app.signed_in(&ada).patch(&me, json!({ "name": " Ada's laptop " })).await.json()["name"], "Ada's laptop");
    assert_eq!(app.server().patch(&named, json!({ "name": "Phone" })).await.json()["name"], "Phone");
    assert_error(&app.signed_in(&bob).patch(&named, json!({ "name": "Mine" })).await, 403, "FORBIDDEN");
    assert_error(&app.signed_in(&bob).patch(&me, json!({ "name": "Mine" })).await, 404, "PASSKEY_NOT_FOUND");
    for name in [json!(""), json!("  "), json!("a".repeat(65)), json!("a\nb"), json!("\u{202e}x"), json!(null), json!(1)] {
        assert_eq!(problems(&app.signed_in(&ada).patch(&me, json!({ "name": name })).await).len(), 1, "{name}");
    }
    assert_eq!(app.signed_in(&ada).get("/api/v1/passkeys?user_id=me").await.json()["items"][0]["name"], "Phone");
}
