//! `POST /api/v1/user-api-keys/{id}/rotate`, and the same operation for teams.

use jiff::SignedDuration;
use model::owned_key::MAX_KEYS;
use serde_json::json;
use support::TestApp;

use super::{ADA, TEAM_KEYS, USER_KEYS, checked, error, started, team_key, text, user_key};

#[tokio::test]
async fn both_keys_work_during_the_overlap() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let body = json!({ "user_id": "me", "description": "CI", "scopes": ["read"], "is_public": true });
    let old = app.signed_in(&ada).post(USER_KEYS, body).await.json();
    let path = format!("{USER_KEYS}/{}/rotate", text(&old["id"]));
    let new = app.signed_in(&ada).post(&path, json!({ "expire_previous_in_millis": 60_000 })).await.json();
    assert!(text(&new["value"]).starts_with("pk_") && new["value"] != old["value"] && new["id"] != old["id"]);
    for field in ["description", "scopes", "is_public"] {
        assert_eq!(new[field], old[field], "{field}");
    }
    for key in [&old, &new] {
        assert_eq!(checked(&app, USER_KEYS, &key["value"]).await.0, 200);
    }
    app.advance(SignedDuration::from_secs(60));
    assert_eq!(checked(&app, USER_KEYS, &old["value"]).await, error(401, "API_KEY_EXPIRED"));
    assert_eq!(checked(&app, USER_KEYS, &new["value"]).await.0, 200);
}

#[tokio::test]
async fn the_overlap_is_a_day_by_default_and_never_extends_a_key_s_life() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let (team, old) = team_key(&app, &ada).await;
    let rotate = |key: &serde_json::Value| format!("{TEAM_KEYS}/{}/rotate?team_id={team}", text(&key["id"]));
    let new = app.signed_in(&ada).post(&rotate(&old), json!({})).await.json();
    let items = app.signed_in(&ada).get(&format!("{TEAM_KEYS}?team_id={team}")).await.json()["items"].clone();
    let day = (app.now() + SignedDuration::from_hours(24)).as_millisecond();
    assert_eq!((&items[1]["id"], &items[1]["expires_at_millis"]), (&old["id"], &json!(day)));

    let soon = app.now().as_millisecond() + 1000;
    let path = format!("{TEAM_KEYS}/{}?team_id={team}", text(&new["id"]));
    assert_eq!(app.signed_in(&ada).patch(&path, json!({ "expires_at_millis": soon })).await.status(), 200);
    let newest = app.signed_in(&ada).post(&rotate(&new), json!({})).await.json();
    assert_eq!(newest["expires_at_millis"], soon);
    app.advance(SignedDuration::from_secs(1));
    for key in [&new, &newest] {
        assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await, error(401, "API_KEY_EXPIRED"));
    }
}

#[tokio::test]
async fn ended_and_unknown_keys_cannot_be_rotated() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let rotate = async |app: &TestApp, id: &str| {
        let answer = app.signed_in(&ada).post(&format!("{USER_KEYS}/{id}/rotate"), json!({})).await;
        (answer.status(), answer.code())
    };
    let key = text(&user_key(&app, &ada).await["id"]);
    assert_eq!(app.signed_in(&ada).patch(&format!("{USER_KEYS}/{key}"), json!({ "revoked": true })).await.status(), 200);
    assert_eq!(rotate(&app, &key).await, error(401, "API_KEY_REVOKED"));
    let key = text(&user_key(&app, &ada).await["id"]);
    assert_eq!(app.signed_in(&ada).patch(&format!("{USER_KEYS}/{key}"), json!({ "expires_at_millis": 1 })).await.status(), 200);
    assert_eq!(rotate(&app, &key).await, error(401, "API_KEY_EXPIRED"));
    assert_eq!(rotate(&app, "7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21").await, error(404, "API_KEY_NOT_FOUND"));
    let key = text(&user_key(&app, &ada).await["id"]);
    let long = json!({ "expire_previous_in_millis": 2_592_000_001_u32 });
    assert_eq!(app.signed_in(&ada).post(&format!("{USER_KEYS}/{key}/rotate"), long).await.code(), "SCHEMA_ERROR");
}

#[tokio::test]
async fn at_the_maximum_each_key_can_still_be_rotated() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let caller = app.signed_in(&ada);
    let (team, first) = team_key(&app, &ada).await;
    let (mut users, mut teams) = (vec![user_key(&app, &ada).await], vec![first]);
    let new_of_team = json!({ "team_id": team, "description": "CI", "expires_at_millis": null });
    for _ in 1..MAX_KEYS {
        users.push(user_key(&app, &ada).await);
        teams.push(caller.post(TEAM_KEYS, new_of_team.clone()).await.json());
    }
    let new_of_user = json!({ "user_id": "me", "description": "CI", "expires_at_millis": null });
    let too_many = error(400, "TOO_MANY_API_KEYS");
    for (path, owner, new, keys) in
        [(USER_KEYS, String::new(), new_of_user, &users), (TEAM_KEYS, format!("?team_id={team}"), new_of_team, &teams)]
    {
        let rotate = async |key: &serde_json::Value| {
            let answer = caller.post(&format!("{path}/{}/rotate{owner}", text(&key["id"])), json!({})).await;
            (answer.status(), answer.json())
        };
        let refused = async |new: &serde_json::Value| {
            let answer = caller.post(path, new.clone()).await;
            (answer.status(), answer.code())
        };
        assert_eq!(refused(&new).await, too_many);
        let mut last = json!(null);
        for key in keys {
            let (status, rotated) = rotate(key).await;
            assert_eq!(status, 200, "{rotated}");
            last = rotated;
        }
        assert_eq!(refused(&new).await, too_many, "the replaced keys do not make room for others");
        for key in [&keys[0], &keys[MAX_KEYS - 1], &last] {
            assert_eq!(checked(&app, path, &key["value"]).await.0, 200);
        }
        let again = rotate(&keys[0]).await;
        assert_eq!((again.0, &again.1["code"]), (400, &json!("TOO_MANY_API_KEYS")), "a replaced key would be replaced by a second one");
        let longer = caller.patch(&format!("{path}/{}{owner}", text(&keys[0]["id"])), json!({ "expires_at_millis": null })).await;
        assert_eq!((longer.status(), longer.code()), too_many, "a key that works on would count again");
    }
    app.advance(SignedDuration::from_hours(24));
    assert_eq!(checked(&app, USER_KEYS, &users[0]["value"]).await, error(401, "API_KEY_EXPIRED"));
}
