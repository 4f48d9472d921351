//! The names and pictures of a team's members.

use serde_json::json;
use support::TestApp;

use super::{assert_error, join, membership, team};

const PROFILES: &str = "/api/v1/team-member-profiles";

#[tokio::test]
async fn a_member_profile_defaults_to_the_user_s_name() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = team(&app, "Engines", Some(&ada)).await;
    let caller = app.signed_in(&ada);
    let own = format!("{PROFILES}/{id}/me");
    caller.patch("/api/v1/users/me", json!({ "display_name": "Ada", "profile_image_url": "https://example.com/a.png" })).await;
    let profile = caller.get(&own).await.json();
    let expected =
        json!({ "team_id": id, "user_id": ada.user_id, "display_name": "Ada", "profile_image_url": "https://example.com/a.png" });
    assert_eq!(profile, expected);
    let changed = caller.patch(&own, json!({ "display_name": "The Countess" })).await;
    assert_eq!((changed.status(), &changed.json()["display_name"]), (200, &json!("The Countess")));
    let server = app.server().get(&format!("{PROFILES}/{id}/{}", ada.user_id)).await.json();
    assert_eq!((&server["display_name"], &server["user"]["display_name"]), (&json!("The Countess"), &json!("Ada")));
    assert_eq!(server["user"]["primary_email"], "ada@example.com");
    caller.patch(&own, json!({ "display_name": null })).await;
    assert_eq!(caller.get(&own).await.json(), expected);
}

#[tokio::test]
async fn other_profiles_are_readable_by_permission_and_changed_by_servers() {
    let app = TestApp::start().await;
    let (ada, bob, eve) =
        (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await, app.sign_up("eve@example.com").await);
    let id = team(&app, "Engines", Some(&ada)).await;
    join(&app, &id, &bob.user_id).await;
    let (list, of_ada) = (format!("{PROFILES}?team_id={id}"), format!("{PROFILES}/{id}/{}", ada.user_id));
    assert_eq!(app.signed_in(&bob).get(&list).await.json()["items"].as_array().unwrap().len(), 2);
    assert_eq!(app.signed_in(&bob).get(&of_ada).await.status(), 200);
    app.server().delete(&format!("/api/v1/team-permissions/{id}/{}/team_member", bob.user_id)).await;
    for path in [&list, &of_ada] {
        assert_error(&app.signed_in(&bob).get(path).await, 401, "TEAM_PERMISSION_REQUIRED");
        assert_error(&app.signed_in(&eve).get(path).await, 401, "TEAM_PERMISSION_REQUIRED");
    }
    let own = app.signed_in(&bob).get(&format!("{list}&user_id=me")).await;
    assert_eq!((own.status(), own.json()["items"].as_array().unwrap().len()), (200, 1));
    assert_error(&app.signed_in(&bob).patch(&of_ada, json!({ "display_name": "x" })).await, 403, "FORBIDDEN");
    assert_eq!(app.server().patch(&of_ada, json!({ "display_name": "x" })).await.json()["display_name"], "x");
}

#[tokio::test]
async fn the_profiles_of_a_team_are_listed_in_pages() {
    let app = TestApp::start().await;
    let id = team(&app, "Engines", None).await;
    for index in 0..5 {
        join(&app, &id, &app.sign_up(&format!("u{index}@example.com")).await.user_id).await;
    }
    let users = |answer: &support::Answer| -> Vec<String> {
        answer.json()["items"].as_array().unwrap().iter().map(|item| item["user_id"].as_str().unwrap().to_owned()).collect()
    };
    let all = users(&app.server().get(&format!("{PROFILES}?team_id={id}")).await);
    assert_eq!(all.len(), 5);
    let first = app.server().get(&format!("{PROFILES}?team_id={id}&limit=3")).await;
    let cursor = first.json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    let cursor: String = url::form_urlencoded::byte_serialize(cursor.as_bytes()).collect();
    let rest = app.server().get(&format!("{PROFILES}?team_id={id}&cursor={cursor}")).await;
    assert_eq!([users(&first), users(&rest)].concat(), all);
    assert!(rest.json()["pagination"]["next_cursor"].is_null());
}

#[tokio::test]
async fn profile_pictures_are_deleted_with_the_user() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    // The number of teams exceeds the number that one transaction deletes.
    let mut urls = Vec::new();
    for number in 0..36 {
        let id = team(&app, &format!("Team {number}"), Some(&ada)).await;
        let data = json!({ "profile_image_url": "data:image/gif;base64,R0lGODlhAQABAAAAACw=" });
        let profile = app.signed_in(&ada).patch(&format!("{PROFILES}/{id}/me"), data).await.json();
        urls.push(profile["profile_image_url"].as_str().unwrap().strip_prefix(support::API_URL).unwrap().to_owned());
    }
    assert_eq!(app.anonymous().get(&urls[0]).await.status(), 200);
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", ada.user_id)).await.status(), 200);
    for url in urls {
        assert_eq!(app.anonymous().get(&url).await.status(), 404, "{url}");
    }
    assert!(!app.table().keys().any(|(_, sk)| sk.starts_with("IMAGE#")));
}

#[tokio::test]
async fn a_profile_picture_is_deleted_with_the_membership() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let id = team(&app, "Engines", Some(&ada)).await;
    join(&app, &id, &bob.user_id).await;
    let data = json!({ "profile_image_url": "data:image/gif;base64,R0lGODlhAQABAAAAACw=" });
    let mut urls = Vec::new();
    for user in [&ada, &bob] {
        let profile = app.signed_in(user).patch(&format!("{PROFILES}/{id}/me"), data.clone()).await.json();
        urls.push(profile["profile_image_url"].as_str().unwrap().strip_prefix(support::API_URL).unwrap().to_owned());
    }
    assert_ne!(urls[0], urls[1]);
    assert_eq!(app.server().delete(&membership(&id, &ada.user_id)).await.status(), 200);
    assert_eq!(app.anonymous().get(&urls[0]).await.status(), 404);
    assert_eq!(app.anonymous().get(&urls[1]).await.status(), 200);
    assert_eq!(app.signed_in(&bob).patch(&format!("{PROFILES}/{id}/me"), json!({ "profile_image_url": null })).await.status(), 200);
    assert_eq!(app.anonymous().get(&urls[1]).await.status(), 404);
}
