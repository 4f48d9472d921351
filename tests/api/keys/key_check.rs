//! `POST /api/v1/user-api-keys/check` and `POST /api/v1/team-api-keys/check`.

use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::TestApp;

use super::{ADA, TEAM_KEYS, USER_KEYS, checked, error, started, team_key, text, user_key};

#[tokio::test]
async fn a_check_names_the_owner_of_the_key() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let key = user_key(&app, &ada).await;
    let answer = app.server().post(&format!("{USER_KEYS}/check"), json!({ "api_key": key["value"] })).await;
    let mut expected = key.clone();
    expected["value"] = json!({ "last_four": &text(&key["value"])[130..] });
    expected["last_used_at_millis"] = json!(app.now().as_millisecond());
    assert_eq!((answer.status(), answer.json()), (200, expected));

    let (team, key) = team_key(&app, &ada).await;
    let answer = app.server().post(&format!("{TEAM_KEYS}/check"), json!({ "api_key": key["value"] })).await.json();
    assert_eq!((&answer["type"], &answer["team_id"], answer.get("user_id")), (&json!("team"), &json!(team), None));
}

#[tokio::test]
async fn a_check_needs_server_access() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let key = user_key(&app, &ada).await;
    let answer = app.signed_in(&ada).post(&format!("{USER_KEYS}/check"), json!({ "api_key": key["value"] })).await;
    assert_eq!((answer.status(), answer.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
}

#[tokio::test]
async fn unknown_and_made_up_keys_are_not_found() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let key = text(&user_key(&app, &ada).await["value"]);
    let (mistyped, upper) = (format!("{}x{}", &key[..9], &key[10..]), key.to_uppercase());
    for wrong in ["", "sk_", &mistyped, &upper, &key[..133], &format!("{key}0"), "ssk_0123456789abcdefghjkmnpqrstvwxyz0123456789abc"] {
        assert_eq!(checked(&app, USER_KEYS, &json!(wrong)).await, error(404, "API_KEY_NOT_FOUND"), "{wrong}");
    }
}

#[tokio::test]
async fn a_key_of_the_other_type_is_named_in_the_error() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let key = user_key(&app, &ada).await;
    let answer = app.server().post(&format!("{TEAM_KEYS}/check"), json!({ "api_key": key["value"] })).await;
    assert_eq!(answer.json()["details"], json!({ "expected_type": "team", "actual_type": "user" }));
    assert_eq!((answer.status(), answer.code().as_str()), (400, "WRONG_API_KEY_TYPE"));
}

#[tokio::test]
async fn a_key_does_not_work_in_another_project() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let key = user_key(&app, &ada).await;
    let other = app.another_project().await;
    let on = json!({ "config": { "allow_user_api_keys": true } });
    assert_eq!(app.admin_of(&other).patch("/api/v1/internal/projects/current", on).await.status(), 200);
    let answer = app.server_of(&other).post(&format!("{USER_KEYS}/check"), json!({ "api_key": key["value"] })).await;
    assert_eq!((answer.status(), answer.code().as_str()), (404, "API_KEY_NOT_FOUND"));
}

#[tokio::test]
async fn a_key_is_deleted_with_its_owner() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let key = user_key(&app, &ada).await;
    let (team, team_key) = team_key(&app, &ada).await;
    assert_eq!(app.server().delete(&format!("/api/v1/teams/{team}")).await.status(), 200);
    assert_eq!(checked(&app, TEAM_KEYS, &team_key["value"]).await, error(404, "API_KEY_NOT_FOUND"));
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", ada.user_id)).await.status(), 200);
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await, error(404, "API_KEY_NOT_FOUND"));
}

#[tokio::test]
async fn a_key_does_not_end_with_the_session_that_created_it() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let key = user_key(&app, &ada).await;
    assert_eq!(app.signed_in(&ada).delete("/api/v1/auth/sessions?user_id=me&include_current=true").await.status(), 200);
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await.0, 200);
    let restricted = json!({ "restricted_by_admin": true });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", ada.user_id), restricted).await.status(), 200);
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await.0, 200, "the app decides about restricted users");
}

#[tokio::test]
async fn a_use_is_recorded_at_most_once_an_hour() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let key = user_key(&app, &ada).await;
    assert_eq!(key.get("last_used_at_millis"), None);
    let start = app.now();
    let used = async || -> Value {
        assert_eq!(checked(&app, USER_KEYS, &key["value"]).await.0, 200);
        let path = format!("{USER_KEYS}/{}?user_id={}", text(&key["id"]), ada.user_id);
        app.server().get(&path).await.json()["last_used_at_millis"].clone()
    };
    assert_eq!(used().await, start.as_millisecond());
    app.advance(SignedDuration::from_mins(59));
    assert_eq!(used().await, start.as_millisecond());
    app.advance(SignedDuration::from_mins(1));
    assert_eq!(used().await, app.now().as_millisecond());
}

#[tokio::test]
async fn checks_of_one_key_are_limited_and_others_are_not_affected() {
    let limits = Limits::off().with(Rule::ApiKey, Some(Rate::new(3, 60)));
    let app = TestApp::start_with(limits).await;
    app.configure(json!({ "config": { "allow_user_api_keys": true } })).await;
    let ada = app.sign_up(ADA).await;
    let (key, other) = (user_key(&app, &ada).await, user_key(&app, &ada).await);
    for _ in 0..3 {
        assert_eq!(checked(&app, USER_KEYS, &key["value"]).await.0, 200);
    }
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await, error(429, "RATE_LIMITED"));
    assert_eq!(checked(&app, USER_KEYS, &other["value"]).await.0, 200);
    for _ in 0..5 {
        assert_eq!(checked(&app, USER_KEYS, &json!("made up")).await, error(404, "API_KEY_NOT_FOUND"));
    }
    app.advance(SignedDuration::from_secs(120));
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await.0, 200);
}

#[tokio::test]
async fn nobody_can_use_up_the_checks_of_a_public_key() {
    let limits = Limits::off().with(Rule::ApiKey, Some(Rate::new(3, 60)));
    let app = TestApp::start_with(limits).await;
    app.configure(json!({ "config": { "allow_user_api_keys": true, "allow_team_api_keys": true, "client_team_creation_enabled": true } }))
        .await;
    let ada = app.sign_up(ADA).await;
    let (team, _) = team_key(&app, &ada).await;
    for (keys, owner, id) in [(USER_KEYS, "user_id", "me"), (TEAM_KEYS, "team_id", &*team)] {
        let body = json!({ owner: id, "description": "Widget", "expires_at_millis": null, "is_public": true });
        let key = app.signed_in(&ada).post(keys, body).await.json();
        assert!(text(&key["value"]).starts_with("pk_"), "{key}");
        for _ in 0..5 {
            assert_eq!(checked(&app, keys, &key["value"]).await.0, 200);
        }
    }
    // A secret key with the prefix of a public key is invalid. The limit on secret keys still
    // applies.
    let secret = user_key(&app, &ada).await;
    let claimed = text(&secret["value"]).replacen("sk_", "pk_", 1);
    assert_eq!(checked(&app, USER_KEYS, &json!(claimed)).await, error(404, "API_KEY_NOT_FOUND"));
    for _ in 0..3 {
        assert_eq!(checked(&app, USER_KEYS, &secret["value"]).await.0, 200);
    }
    assert_eq!(checked(&app, USER_KEYS, &secret["value"]).await, error(429, "RATE_LIMITED"));
}
