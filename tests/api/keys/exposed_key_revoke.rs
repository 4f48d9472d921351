//! `POST /api/v1/integrations/credential-scanning/revoke`.

use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::json;
use support::{SignedInUser, TestApp};

use super::{ADA, TEAM_KEYS, USER_KEYS, checked, error, started, team_key, text, user_key};

const PATH: &str = "/api/v1/integrations/credential-scanning/revoke";

/// The texts of the emails about exposed keys that were sent to an address.
async fn told(app: &TestApp, email: &str) -> Vec<String> {
    let mails = app.mails(email).await.into_iter().map(|mail| mail.0.text);
    mails.filter(|text| text.contains("was found in public, and has been revoked")).collect()
}

async fn verify(app: &TestApp, user: &str) {
    let verified = json!({ "primary_email_verified": true });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{user}"), verified).await.status(), 200);
}

/// Signs up Ada, with a verified primary address.
async fn verified_ada(app: &TestApp) -> SignedInUser {
    let ada = app.sign_up(ADA).await;
    verify(app, &ada.user_id).await;
    ada
}

/// Reports a team's new key as exposed, and checks that the key is revoked.
async fn expose(app: &TestApp, team: &str) {
    let body = json!({ "team_id": team, "description": "Deployments", "expires_at_millis": null });
    let key = app.server().post(TEAM_KEYS, body).await.json();
    assert_eq!(app.anonymous().post(PATH, json!({ "api_key": key["value"] })).await.status(), 200);
    assert_eq!(checked(app, TEAM_KEYS, &key["value"]).await, error(401, "API_KEY_REVOKED"));
}

#[tokio::test]
async fn an_exposed_key_is_revoked_without_credentials_and_the_owner_is_told() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let key = user_key(&app, &ada).await;
    app.send_emails().await;
    for _ in 0..2 {
        let answer = app.anonymous().post(PATH, json!({ "api_key": key["value"] })).await;
        assert_eq!((answer.status(), answer.json()), (200, json!({ "success": true })));
        assert_eq!(checked(&app, USER_KEYS, &key["value"]).await, error(401, "API_KEY_REVOKED"));
    }
    assert_eq!(told(&app, ADA).await.len(), 1);
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
async fn only_members_who_may_manage_the_team_s_keys_are_told_once() {
    let app = started().await;
    let ada = verified_ada(&app).await;
    let (team, key) = team_key(&app, &ada).await;
    let other = text(&app.server().post("/api/v1/teams", json!({ "display_name": "Looms" })).await.json()["id"]);
    for (email, team, permission) in [
        ("manager@example.com", &team, Some("$manage_api_keys")),
        ("member@example.com", &team, None),
        ("stranger@example.com", &other, Some("$manage_api_keys")),
    ] {
        let user = app.sign_up(email).await.user_id;
        verify(&app, &user).await;
        assert_eq!(app.server().post(&format!("/api/v1/team-memberships/{team}/{user}"), json!({})).await.status(), 201);
        if let Some(permission) = permission {
            let path = format!("/api/v1/team-permissions/{team}/{user}/{permission}");
            assert_eq!(app.server().post(&path, json!({})).await.status(), 201);
        }
    }
    // Several scanners find a key at the same time.
    let scanners = (0..6).map(|_| async { app.anonymous().post(PATH, json!({ "api_key": key["value"] })).await.status() });
    assert!(join_all(scanners).await.into_iter().all(|status| status == 200));
    let key = text(&key["value"]);
    for (email, count) in [(ADA, 1), ("manager@example.com", 1), ("member@example.com", 0), ("stranger@example.com", 0)] {
        let told = told(&app, email).await;
        assert_eq!(told.len(), count, "{email}: {told:?}");
        assert!(told.iter().all(|text| text.contains(&format!("Engines ending in {}", &key[130..])) && !text.contains(&key)), "{told:?}");
    }
}

#[tokio::test]
async fn only_verified_addresses_of_managers_are_told() {
    let app = started().await;
    let ada = verified_ada(&app).await;
    let (team, _) = team_key(&app, &ada).await;
    let mallory = app.sign_in_by_mail("mallory@example.com").await;
    let path = format!("/api/v1/team-memberships/{team}/{}", mallory.user_id);
    assert_eq!(app.server().post(&path, json!({})).await.status(), 201);
    let path = format!("/api/v1/team-permissions/{team}/{}/$manage_api_keys", mallory.user_id);
    assert_eq!(app.server().post(&path, json!({})).await.status(), 201);
    // The address is looked up when the key is revoked, not when the email is sent.
    expose(&app, &team).await;
    let move_to = async |email: &str| {
        assert_eq!(app.signed_in(&mallory).patch("/api/v1/users/me", json!({ "primary_email": email })).await.status(), 200);
    };
    move_to("victim@example.com").await;
    assert_eq!((told(&app, ADA).await.len(), told(&app, "mallory@example.com").await.len()), (1, 1));
    assert!(told(&app, "victim@example.com").await.is_empty());
    expose(&app, &team).await;
    move_to("other@example.com").await;
    expose(&app, &team).await;
    assert_eq!((told(&app, ADA).await.len(), told(&app, "mallory@example.com").await.len()), (3, 1));
    for victim in ["victim@example.com", "other@example.com"] {
        assert!(told(&app, victim).await.is_empty(), "{victim}");
    }
}

#[tokio::test]
async fn notices_of_a_team_are_limited_and_revocations_are_not() {
    let app = started().await;
    let ada = verified_ada(&app).await;
    let (team, _) = team_key(&app, &ada).await;
    for _ in 0..8 {
        expose(&app, &team).await;
    }
    let told_now = told(&app, ADA).await;
    assert_eq!(told_now.len(), 4);
    assert!(told_now.iter().all(|text| !text.contains("last email")), "{told_now:?}");
    let (other, _) = team_key(&app, &ada).await;
    expose(&app, &other).await;
    assert_eq!(told(&app, ADA).await.len(), 5, "each team has a limit of its own");
    app.advance(SignedDuration::from_hours(1));
    let told_later = told(&app, ADA).await;
    assert_eq!(told_later.len(), 6, "one more email stands for the others");
    assert_eq!(told_later.iter().filter(|text| text.contains("last email")).count(), 1);
    expose(&app, &team).await;
    assert_eq!(told(&app, ADA).await.len(), 7);
}

#[tokio::test]
async fn concurrent_reports_of_many_keys_send_few_notices() {
    let app = started().await;
    let ada = verified_ada(&app).await;
    let (team, _) = team_key(&app, &ada).await;
    for _ in 0..3 {
        expose(&app, &team).await;
    }
    let mut keys = Vec::new();
    for _ in 0..4 {
        let body = json!({ "team_id": team, "description": "Deployments", "expires_at_millis": null });
        keys.push(app.server().post(TEAM_KEYS, body).await.json()["value"].clone());
    }
    let reports = keys.iter().map(async |key| app.anonymous().post(PATH, json!({ "api_key": key })).await.status());
    let reported = join_all(reports).await;
    assert!(reported.iter().all(|status| *status == 200), "{reported:?}");
    assert_eq!(told(&app, ADA).await.len(), 4);
}

#[tokio::test]
async fn managers_are_not_told_if_the_project_switched_the_notices_off() {
    let app = started().await;
    app.configure(json!({ "config": { "disabled_notices": ["api-key"] } })).await;
    let ada = app.sign_up(ADA).await;
    let (_, key) = team_key(&app, &ada).await;
    assert_eq!(app.anonymous().post(PATH, json!({ "api_key": key["value"] })).await.status(), 200);
    assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await, error(401, "API_KEY_REVOKED"));
    assert!(told(&app, ADA).await.is_empty());
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
