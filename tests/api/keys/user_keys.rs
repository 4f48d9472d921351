//! `POST`, `GET` and `PATCH /api/v1/user-api-keys`.

use model::owned_key::MAX_KEYS;
use serde_json::json;
use support::TestApp;

use super::{ADA, USER_KEYS, checked, error, started, text, user_key};

#[tokio::test]
async fn a_key_is_shown_once_and_then_by_its_last_four_characters() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let body = json!({ "user_id": "me", "description": "CI", "expires_at_millis": null, "scopes": ["write", "read", "read"] });
    let created = app.signed_in(&ada).post(USER_KEYS, body).await.json();
    let value = text(&created["value"]);
    assert!(value.starts_with("sk_") && value.len() == 134, "{value}");
    let id = text(&created["id"]);
    let expected = json!({
        "id": id, "description": "CI", "is_public": false, "scopes": ["read", "write"], "created_at_millis": app.now().as_millisecond(),
        "type": "user", "user_id": ada.user_id, "value": { "last_four": &value[130..] },
    });
    let caller = app.signed_in(&ada);
    assert_eq!(caller.get(&format!("{USER_KEYS}/{id}")).await.json(), expected);
    assert_eq!(caller.get(&format!("{USER_KEYS}?user_id=me")).await.json(), json!({ "items": [expected], "is_paginated": false }));
    let server = app.server().get(&format!("{USER_KEYS}/{id}?user_id={}", ada.user_id)).await;
    assert_eq!(server.json(), expected);
    let stored = format!("{:?}", app.table());
    assert!(!stored.contains(&value), "the table has no key in plaintext");
}

#[tokio::test]
async fn keys_are_listed_newest_first_and_are_not_fields_of_the_user() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let first = user_key(&app, &ada).await;
    app.advance(jiff::SignedDuration::from_secs(1));
    let second = user_key(&app, &ada).await;
    let items = app.signed_in(&ada).get(&format!("{USER_KEYS}?user_id=me")).await.json()["items"].clone();
    assert_eq!([&items[0]["id"], &items[1]["id"]], [&second["id"], &first["id"]]);
    for answer in [app.signed_in(&ada).get("/api/v1/users/me").await, app.server().get(&format!("/api/v1/users/{}", ada.user_id)).await] {
        assert!(!answer.text().contains("api_key"), "{}", answer.text());
    }
}

#[tokio::test]
async fn a_revoked_key_stops_working_at_once_and_cannot_be_restored() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let key = user_key(&app, &ada).await;
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await.0, 200);
    let path = format!("{USER_KEYS}/{}", text(&key["id"]));
    let revoked = app.signed_in(&ada).patch(&path, json!({ "revoked": true })).await;
    let at = revoked.json()["manually_revoked_at_millis"].clone();
    assert_eq!(at, app.now().as_millisecond());
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await, error(401, "API_KEY_REVOKED"));

    app.advance(jiff::SignedDuration::from_secs(10));
    assert_eq!(app.signed_in(&ada).patch(&path, json!({ "revoked": true })).await.json()["manually_revoked_at_millis"], at);
    assert_eq!(app.signed_in(&ada).patch(&path, json!({ "revoked": false })).await.code(), "SCHEMA_ERROR");
}

#[tokio::test]
async fn an_expired_key_is_refused_and_listed() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let soon = (app.now() + jiff::SignedDuration::from_secs(60)).as_millisecond();
    let body = json!({ "user_id": "me", "description": "CI", "expires_at_millis": soon });
    let key = app.signed_in(&ada).post(USER_KEYS, body).await.json();
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await.0, 200);
    app.advance(jiff::SignedDuration::from_secs(60));
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await, error(401, "API_KEY_EXPIRED"));
    let ada = app.sign_in(ADA).await;
    let listed = app.signed_in(&ada).get(&format!("{USER_KEYS}?user_id=me")).await.json();
    assert_eq!(listed["items"][0]["expires_at_millis"], soon);

    let path = format!("{USER_KEYS}/{}", text(&key["id"]));
    assert_eq!(app.signed_in(&ada).patch(&path, json!({ "expires_at_millis": 0 })).await.status(), 200);
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await.0, 200, "without an expiry, the key works again");
}

#[tokio::test]
async fn a_key_that_ended_is_listed_for_thirty_days() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let key = app.signed_in(&ada).post(USER_KEYS, json!({ "user_id": "me", "description": "CI" })).await.json();
    let path = format!("{USER_KEYS}/{}", text(&key["id"]));
    assert_eq!(app.signed_in(&ada).patch(&path, json!({ "revoked": true })).await.status(), 200);
    let listed = async || {
        let ada = app.sign_in(ADA).await;
        app.signed_in(&ada).get(&format!("{USER_KEYS}?user_id=me")).await.json()["items"].as_array().unwrap().len()
    };
    app.advance(jiff::SignedDuration::from_hours(30 * 24 - 1));
    assert_eq!(listed().await, 1);
    app.advance(jiff::SignedDuration::from_hours(1));
    assert_eq!(listed().await, 0);
}

#[tokio::test]
async fn zero_null_and_nothing_mean_that_a_key_never_expires() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    for expiry in [json!({ "expires_at_millis": 0 }), json!({ "expires_at_millis": null }), json!({})] {
        let mut body = json!({ "user_id": "me", "description": "CI" });
        body.as_object_mut().unwrap().extend(expiry.as_object().unwrap().clone());
        let created = app.signed_in(&ada).post(USER_KEYS, body).await;
        assert_eq!((created.status(), created.json().get("expires_at_millis")), (200, None));
    }
    let past = json!({ "user_id": "me", "description": "CI", "expires_at_millis": 1000 });
    let past = app.signed_in(&ada).post(USER_KEYS, past).await.json();
    assert_eq!(checked(&app, USER_KEYS, &past["value"]).await, error(401, "API_KEY_EXPIRED"));
}

#[tokio::test]
async fn an_invalid_field_is_named_in_the_error() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let long = "x".repeat(257);
    let scopes: Vec<String> = (0..33).map(|number| format!("scope-{number}")).collect();
    for (field, value) in [
        ("description", json!("")),
        ("description", json!(long)),
        ("description", json!("two\nlines")),
        ("description", json!("\u{202e}drow")),
        ("scopes", json!(["two words"])),
        ("scopes", json!([""])),
        ("scopes", json!(["x".repeat(65)])),
        ("scopes", json!(scopes)),
        ("is_public", json!("yes")),
        ("expires_at_millis", json!("tomorrow")),
    ] {
        let mut body = json!({ "user_id": "me", "description": "CI" });
        body[field] = value.clone();
        let refused = app.signed_in(&ada).post(USER_KEYS, body).await;
        assert_eq!((refused.status(), refused.code().as_str()), (400, "SCHEMA_ERROR"), "{value}");
        assert!(refused.text().contains(&format!("body.{field}")), "{}", refused.text());
    }
    let items = app.signed_in(&ada).get(&format!("{USER_KEYS}?user_id=me")).await.json()["items"].clone();
    assert_eq!(items, json!([]));
}

#[tokio::test]
async fn while_keys_are_off_nothing_works_and_the_keys_are_kept() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let key = user_key(&app, &ada).await;
    app.configure(json!({ "config": { "allow_user_api_keys": false } })).await;
    let (caller, path) = (app.signed_in(&ada), format!("{USER_KEYS}/{}", text(&key["id"])));
    let off = error(400, "API_KEYS_NOT_ENABLED");
    for answer in [
        caller.post(USER_KEYS, json!({ "user_id": "me", "description": "CI" })).await,
        caller.get(&format!("{USER_KEYS}?user_id=me")).await,
        caller.get(&path).await,
        caller.patch(&path, json!({ "revoked": true })).await,
        caller.post(&format!("{path}/rotate"), json!({})).await,
    ] {
        assert_eq!((answer.status(), answer.code()), off);
    }
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await, off);
    app.configure(json!({ "config": { "allow_user_api_keys": true } })).await;
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await.0, 200);
}

#[tokio::test]
async fn keys_can_be_enabled_in_the_settings_and_in_the_configuration() {
    let app = TestApp::start().await;
    let values = json!({ "config_override_string": "{\"apiKeys.enabled.user\":true}" });
    assert_eq!(app.admin().patch("/api/v1/internal/config/override/environment", values).await.status(), 200);
    let config = app.client().get("/api/v1/projects/current").await.json()["config"].clone();
    assert_eq!((&config["allow_user_api_keys"], &config["allow_team_api_keys"]), (&json!(true), &json!(false)));
    app.configure(json!({ "config": { "allow_team_api_keys": true } })).await;
    let rendered = app.admin().get("/api/v1/internal/config").await.json();
    let rendered: serde_json::Value = serde_json::from_str(rendered["config_string"].as_str().unwrap()).unwrap();
    assert_eq!(rendered["apiKeys"]["enabled"], json!({ "user": true, "team": true }));
}

#[tokio::test]
async fn a_server_manages_the_keys_of_every_user_but_must_name_the_user() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let body = json!({ "user_id": ada.user_id, "description": "Robot", "expires_at_millis": null });
    let key = app.server().post(USER_KEYS, body).await.json();
    let path = format!("{USER_KEYS}/{}", text(&key["id"]));
    for answer in [app.server().get(USER_KEYS).await, app.server().get(&path).await] {
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"));
        assert!(answer.text().contains("query.user_id is required"), "{}", answer.text());
    }
    let renamed = app.server().patch(&format!("{path}?user_id={}", ada.user_id), json!({ "description": "Machine" })).await;
    assert_eq!(renamed.json()["description"], "Machine");
    let nobody = json!({ "user_id": "7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21", "description": "CI" });
    let answer = app.server().post(USER_KEYS, nobody).await;
    assert_eq!((answer.status(), answer.code().as_str()), (400, "USER_ID_DOES_NOT_EXIST"));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_create_at_most_the_maximum() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    for _ in 0..MAX_KEYS - 1 {
        user_key(&app, &ada).await;
    }
    let mut race = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let caller = app.signed_in(&ada);
        race.spawn(async move { caller.post(USER_KEYS, json!({ "user_id": "me", "description": "CI" })).await });
    }
    let mut statuses: Vec<_> = race.join_all().await.iter().map(|answer| (answer.status(), answer.json()["code"].clone())).collect();
    statuses.sort_by_key(|(status, _)| *status);
    let refused = (400, json!("TOO_MANY_API_KEYS"));
    assert_eq!(statuses, [(200, json!(null)), refused.clone(), refused.clone(), refused]);
    let key = app.signed_in(&ada).get(&format!("{USER_KEYS}?user_id=me")).await.json()["items"][0].clone();
    assert_eq!(app.signed_in(&ada).patch(&format!("{USER_KEYS}/{}", text(&key["id"])), json!({ "revoked": true })).await.status(), 200);
    user_key(&app, &ada).await;
}
