//! Attempts to use the keys of other owners, or to keep access through a key.

use jiff::SignedDuration;
use serde_json::json;

use super::{ADA, TEAM_KEYS, USER_KEYS, checked, error, started, team_key, text, user_key};

#[tokio::test]
async fn a_client_reaches_only_the_keys_of_its_own_user() {
    let app = started().await;
    let (ada, eve) = (app.sign_up(ADA).await, app.sign_up("eve@example.com").await);
    let key = user_key(&app, &ada).await;
    let (caller, id) = (app.signed_in(&eve), text(&key["id"]));
    let own = format!("?user_id={}", ada.user_id);
    for answer in [
        caller.post(USER_KEYS, json!({ "user_id": ada.user_id, "description": "CI" })).await,
        caller.get(&format!("{USER_KEYS}{own}")).await,
        caller.get(&format!("{USER_KEYS}/{id}{own}")).await,
        caller.patch(&format!("{USER_KEYS}/{id}{own}"), json!({ "revoked": true })).await,
        caller.post(&format!("{USER_KEYS}/{id}/rotate{own}"), json!({})).await,
    ] {
        assert_eq!((answer.status(), answer.code()), error(403, "FORBIDDEN"));
    }
    for answer in [
        caller.get(&format!("{USER_KEYS}/{id}")).await,
        caller.patch(&format!("{USER_KEYS}/{id}?user_id=me"), json!({ "revoked": true })).await,
        caller.post(&format!("{USER_KEYS}/{id}/rotate"), json!({})).await,
    ] {
        assert_eq!((answer.status(), answer.code()), error(404, "API_KEY_NOT_FOUND"));
    }
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await.0, 200);
}

#[tokio::test]
async fn the_id_of_a_key_is_of_no_use_with_another_team() {
    let app = started().await;
    let (ada, eve) = (app.sign_up(ADA).await, app.sign_up("eve@example.com").await);
    let ((_, key), (own, _)) = (team_key(&app, &ada).await, team_key(&app, &eve).await);
    let path = format!("{TEAM_KEYS}/{}?team_id={own}", text(&key["id"]));
    for answer in [app.signed_in(&eve).get(&path).await, app.signed_in(&eve).patch(&path, json!({ "revoked": true })).await] {
        assert_eq!((answer.status(), answer.code()), error(404, "API_KEY_NOT_FOUND"));
    }
    assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await.0, 200);
}

#[tokio::test]
async fn an_ended_session_creates_no_key() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let caller = app.signed_in(&ada);
    assert_eq!(caller.delete("/api/v1/auth/sessions/current").await.status(), 200);
    let answer = caller.post(USER_KEYS, json!({ "user_id": "me", "description": "CI" })).await;
    assert_eq!((answer.status(), answer.code()), error(401, "ACCESS_TOKEN_EXPIRED"));
}

#[tokio::test]
async fn an_old_session_revokes_keys_but_neither_creates_nor_widens_them() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let key = user_key(&app, &ada).await;
    app.configure(json!({ "config": { "reauthentication_max_age_seconds": 60 } })).await;
    app.advance(SignedDuration::from_secs(61));
    let (caller, path) = (app.signed_in(&ada), format!("{USER_KEYS}/{}", text(&key["id"])));
    for answer in [
        caller.post(USER_KEYS, json!({ "user_id": "me", "description": "CI" })).await,
        caller.post(&format!("{path}/rotate"), json!({})).await,
        caller.patch(&path, json!({ "scopes": ["admin"] })).await,
        caller.patch(&path, json!({ "expires_at_millis": null })).await,
    ] {
        assert_eq!((answer.status(), answer.code()), error(403, "REAUTHENTICATION_REQUIRED"));
    }
    assert_eq!(caller.patch(&path, json!({ "description": "Laptop", "revoked": true })).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_revoked_during_checks_stays_revoked() {
    let app = started().await;
    app.sign_up(ADA).await;
    for _ in 0..5 {
        let ada = app.sign_in(ADA).await;
        let key = user_key(&app, &ada).await;
        // Each round records a use of the key, which competes with the revocation for the user's
        // item.
        app.advance(SignedDuration::from_hours(1));
        let server = app.server();
        let (check, key_path) = (format!("{USER_KEYS}/check"), format!("{USER_KEYS}/{}?user_id={}", text(&key["id"]), ada.user_id));
        let check = server.post(&check, json!({ "api_key": key["value"] }));
        let change = server.patch(&key_path, json!({ "revoked": true }));
        let (checked_once, changed) = tokio::join!(check, change);
        assert!([200, 401].contains(&checked_once.status()), "{}", checked_once.text());
        assert_eq!(changed.status(), 200, "{}", changed.text());
        assert_eq!(checked(&app, USER_KEYS, &key["value"]).await, error(401, "API_KEY_REVOKED"));
    }
}
