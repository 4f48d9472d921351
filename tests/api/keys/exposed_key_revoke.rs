//! `POST /api/v1/integrations/credential-scanning/revoke`.

use serde_json::json;

use super::{ADA, TEAM_KEYS, USER_KEYS, checked, error, started, team_key, user_key};

const PATH: &str = "/api/v1/integrations/credential-scanning/revoke";

#[tokio::test]
async fn an_exposed_key_is_revoked_without_credentials_and_the_owner_is_told() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let key = user_key(&app, &ada).await;
    app.deliver().await;
    for _ in 0..2 {
        let answer = app.anonymous().post(PATH, json!({ "api_key": key["value"] })).await;
        assert_eq!((answer.status(), answer.json()), (200, json!({ "success": true })));
        assert_eq!(checked(&app, USER_KEYS, &key["value"]).await, error(401, "API_KEY_REVOKED"));
    }
    let told = app.mails(ADA).await.iter().filter(|mail| mail.0.text.contains("was found in public, and has been revoked")).count();
    assert_eq!(told, 1);
}

#[tokio::test]
async fn a_team_key_is_revoked_too_and_recorded() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let (_, key) = team_key(&app, &ada).await;
    assert_eq!(app.anonymous().post(PATH, json!({ "api_key": key["value"] })).await.status(), 200);
    assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await, error(401, "API_KEY_REVOKED"));
    let log = app.admin().get("/api/v1/internal/audit-log?operation=keys-exposed-key-revoke").await.json();
    let target = json!({ "type": "api-key", "id": key["id"] });
    assert!(log["items"][0]["targets"].as_array().unwrap().contains(&target), "{log}");
}

#[tokio::test]
async fn public_expired_and_unknown_keys_are_not_revoked() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let public = json!({ "user_id": "me", "description": "App", "is_public": true });
    let public = app.signed_in(&ada).post(USER_KEYS, public).await.json();
    let expired = json!({ "user_id": "me", "description": "Old", "expires_at_millis": 1 });
    let expired = app.signed_in(&ada).post(USER_KEYS, expired).await.json();
    for (key, status, code) in [
        (public["value"].clone(), 400, "PUBLIC_API_KEY_CANNOT_BE_REVOKED"),
        (expired["value"].clone(), 401, "API_KEY_EXPIRED"),
        (json!("sk_made_up"), 404, "API_KEY_NOT_FOUND"),
    ] {
        let answer = app.anonymous().post(PATH, json!({ "api_key": key })).await;
        assert_eq!((answer.status(), answer.code()), error(status, code));
    }
    assert_eq!(checked(&app, USER_KEYS, &public["value"]).await.0, 200);
}
