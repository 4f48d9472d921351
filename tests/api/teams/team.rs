//! Creating, reading and changing a team.

use serde_json::json;
use support::TestApp;

use super::{TEAMS, assert_error, ids, join, team, teams_of};

#[tokio::test]
async fn a_server_can_create_a_team_with_its_creator_as_a_member() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let body = json!({
        "display_name": "Engines", "creator_user_id": ada.user_id, "profile_image_url": "https://example.com/a.png",
        "client_metadata": { "a": 1 }, "client_read_only_metadata": { "b": 2 }, "server_metadata": { "c": 3 },
    });
    let answer = app.server().post(TEAMS, body).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    let created = answer.json();
    let read = app.server().get(&format!("{TEAMS}/{}", created["id"].as_str().unwrap())).await.json();
    assert_eq!(created, read);
    assert_eq!((&read["display_name"], &read["server_metadata"]), (&json!("Engines"), &json!({ "c": 3 })));
    assert_eq!(read["created_at_millis"], app.now().as_millisecond());
    assert_eq!(teams_of(&app, &ada.user_id).await, [read["id"].as_str().unwrap()]);
}

#[tokio::test]
async fn a_client_can_create_its_own_teams_if_enabled() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let caller = app.signed_in(&ada);
    assert_error(&caller.post(TEAMS, json!({ "display_name": "Engines" })).await, 403, "TEAM_CREATION_NOT_ENABLED");
    app.configure(json!({ "config": { "client_team_creation_enabled": true } })).await;
    let for_bob = json!({ "display_name": "Engines", "creator_user_id": bob.user_id });
    assert_error(&caller.post(TEAMS, for_bob).await, 403, "FORBIDDEN");
    let reserved = json!({ "display_name": "Engines", "server_metadata": {} });
    assert_error(&caller.post(TEAMS, reserved).await, 400, "SCHEMA_ERROR");
    assert_error(&app.client().post(TEAMS, json!({ "display_name": "Engines" })).await, 401, "USER_AUTHENTICATION_REQUIRED");
    assert!(teams_of(&app, &ada.user_id).await.is_empty());

    let answer = caller.post(TEAMS, json!({ "display_name": "Engines", "creator_user_id": "me" })).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    assert!(answer.json().get("server_metadata").is_none(), "{}", answer.text());
    let own = ids(&caller.get(&format!("{TEAMS}?user_id=me")).await);
    assert_eq!(own, [answer.json()["id"].as_str().unwrap()]);
}

#[tokio::test]
async fn a_team_requires_a_name_and_an_existing_creator() {
    let app = TestApp::start().await;
    for name in [json!(null), json!("a\nb"), json!("a".repeat(257)), json!(7)] {
        assert_error(&app.server().post(TEAMS, json!({ "display_name": name })).await, 400, "SCHEMA_ERROR");
    }
    let body = json!({ "display_name": "Engines", "creator_user_id": "7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21" });
    assert_error(&app.server().post(TEAMS, body).await, 404, "USER_NOT_FOUND");
    assert!(ids(&app.server().get(TEAMS).await).is_empty());
    let unnamed = app.server().post(TEAMS, json!({ "display_name": "" })).await;
    assert_eq!((unnamed.status(), &unnamed.json()["display_name"]), (201, &json!("")), "{}", unnamed.text());
}

#[tokio::test]
async fn metadata_is_any_json_value() {
    let app = TestApp::start().await;
    let team = app.server().post(TEAMS, json!({ "display_name": "Engines" })).await.json();
    let path = format!("{TEAMS}/{}", team["id"].as_str().unwrap());
    for value in [json!("text"), json!(7.5), json!(false), json!([1, null]), json!({ "a": [{}] }), json!(null)] {
        let changed = app.server().patch(&path, json!({ "server_metadata": value })).await;
        assert_eq!((changed.status(), &changed.json()["server_metadata"]), (200, &value), "{}", changed.text());
        assert_eq!(app.server().get(&path).await.json()["server_metadata"], value);
    }
}

#[tokio::test]
async fn members_can_read_a_team_and_strangers_cannot_detect_it() {
    let app = TestApp::start().await;
    let (ada, eve) = (app.sign_up("ada@example.com").await, app.sign_up("eve@example.com").await);
    let path = format!("{TEAMS}/{}", team(&app, "Engines", Some(&ada)).await);
    let read = app.signed_in(&ada).get(&path).await.json();
    assert_eq!(read["display_name"], "Engines");
    assert!(read.get("server_metadata").is_none() && read.get("created_at_millis").is_none());
    let nowhere = format!("{TEAMS}/7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21");
    for path in [&path, &nowhere] {
        assert_error(&app.signed_in(&eve).get(path).await, 404, "TEAM_MEMBERSHIP_NOT_FOUND");
        for answer in [app.signed_in(&eve).patch(path, json!({ "display_name": "x" })).await, app.signed_in(&eve).delete(path).await] {
            assert_error(&answer, 401, "TEAM_PERMISSION_REQUIRED");
        }
        assert_error(&app.client().get(path).await, 401, "USER_AUTHENTICATION_REQUIRED");
    }
    assert_error(&app.server().get(&nowhere).await, 404, "TEAM_NOT_FOUND");
}

#[tokio::test]
async fn a_permitted_member_can_change_the_client_fields_of_a_team() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let id = team(&app, "Engines", Some(&ada)).await;
    join(&app, &id, &bob.user_id).await;
    let path = format!("{TEAMS}/{id}");
    let patch = json!({ "display_name": "Looms", "client_metadata": { "a": 1 }, "profile_image_url": "https://example.com/a.png" });
    let details = assert_error(&app.signed_in(&bob).patch(&path, patch.clone()).await, 401, "TEAM_PERMISSION_REQUIRED");
    assert_eq!(details, json!({ "team_id": id, "user_id": bob.user_id, "permission_id": "$update_team" }));
    assert_eq!(app.signed_in(&ada).patch(&path, patch).await.status(), 200);
    assert_error(&app.signed_in(&ada).patch(&path, json!({ "client_read_only_metadata": {} })).await, 400, "SCHEMA_ERROR");
    let changed = app.server().patch(&path, json!({ "server_metadata": { "b": 2 }, "client_metadata": null })).await.json();
    assert_eq!(changed["display_name"], "Looms");
    assert_eq!((&changed["client_metadata"], &changed["server_metadata"]), (&json!(null), &json!({ "b": 2 })));
    assert_eq!(app.server().get(&path).await.json(), changed);
}

#[tokio::test]
async fn a_team_picture_is_served_until_replaced() {
    let app = TestApp::start().await;
    let id = team(&app, "Engines", None).await;
    let path = format!("{TEAMS}/{id}");
    let data = "data:image/gif;base64,R0lGODlhAQABAAAAACw=";
    let team = app.server().patch(&path, json!({ "profile_image_url": data })).await.json();
    let url = team["profile_image_url"].as_str().unwrap().strip_prefix(support::API_URL).unwrap().to_owned();
    let image = app.anonymous().get(&url).await;
    assert_eq!((image.status(), image.header("content-type")), (200, Some("image/gif")));
    assert_eq!(app.server().patch(&path, json!({ "profile_image_url": null })).await.status(), 200);
    assert_eq!(app.anonymous().get(&url).await.status(), 404);
}
