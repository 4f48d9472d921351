//! The lists of teams, and of the users of a team.

use serde_json::{Value, json};
use support::TestApp;

use super::{TEAMS, assert_error, ids, join, team};

#[tokio::test]
async fn a_user_s_teams_are_listed_in_joining_order() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut expected = Vec::new();
    for name in ["Looms", "Engines", "Cards"] {
        let id = team(&app, name, None).await;
        app.advance(jiff::SignedDuration::from_secs(1));
        join(&app, &id, &ada.user_id).await;
        expected.push(id);
    }
    let answer = app.signed_in(&ada).get(&format!("{TEAMS}?user_id=me")).await;
    assert_eq!(ids(&answer), expected);
    assert_eq!((&answer.json()["is_paginated"], &answer.json()["pagination"]["next_cursor"]), (&json!(true), &Value::Null));
    let other = app.sign_up("eve@example.com").await;
    assert_error(&app.signed_in(&other).get(&format!("{TEAMS}?user_id={}", ada.user_id)).await, 403, "FORBIDDEN");
    assert_error(&app.signed_in(&other).get(TEAMS).await, 403, "FORBIDDEN");
}

#[tokio::test]
async fn a_server_can_list_and_search_all_teams() {
    let app = TestApp::start().await;
    let mut expected = Vec::new();
    for index in 0..7 {
        expected.push(team(&app, &format!("Team {index}"), None).await);
        app.advance(jiff::SignedDuration::from_secs(1));
    }
    let all = app.server().get(TEAMS).await;
    assert_eq!(ids(&all), expected);
    assert_eq!((&all.json()["is_paginated"], &all.json()["pagination"]["next_cursor"]), (&json!(true), &Value::Null));
    let newest: Vec<String> = expected.iter().rev().cloned().collect();
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = app.server().get(&format!("{TEAMS}?order_by=created_at&desc=true&limit=3{cursor}")).await;
        found.extend(ids(&page));
        match page.json()["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={}", url::form_urlencoded::byte_serialize(next.as_bytes()).collect::<String>()),
            None => break,
        }
    }
    assert_eq!(found, newest);
    assert_eq!(ids(&app.server().get(&format!("{TEAMS}?query=TEAM%203")).await), [expected[3].clone()]);
    assert_eq!(ids(&app.server().get(&format!("{TEAMS}?query={}", expected[5])).await), [expected[5].clone()]);
    assert_error(&app.server().get(&format!("{TEAMS}?cursor=x")).await, 400, "INVALID_CURSOR");
}

#[tokio::test]
async fn the_users_of_a_team_are_paginated_by_sign_up_time() {
    let app = TestApp::start().await;
    let id = team(&app, "Engines", None).await;
    let mut expected = Vec::new();
    for index in 0..5 {
        let user = app.sign_up(&format!("u{index}@example.com")).await;
        app.sign_up(&format!("other{index}@example.com")).await;
        app.advance(jiff::SignedDuration::from_secs(1));
        expected.push(user.user_id);
    }
    for user in expected.iter().rev() {
        join(&app, &id, user).await;
    }
    let path = format!("/api/v1/users?team_id={id}");
    assert_eq!(ids(&app.server().get(&path).await), expected);
    let first = app.server().get(&format!("{path}&limit=2")).await;
    assert_eq!(ids(&first), expected[..2]);
    let cursor = first.json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    let cursor: String = url::form_urlencoded::byte_serialize(cursor.as_bytes()).collect();
    assert_eq!(ids(&app.server().get(&format!("{path}&cursor={cursor}")).await), expected[2..]);
    assert_eq!(ids(&app.server().get(&format!("{path}&query=U3@")).await), [expected[3].clone()]);
    assert_eq!(ids(&app.server().get(&format!("{path}&desc=true&limit=1")).await), [expected[4].clone()]);
    // The cursor of one list is invalid for any other list.
    assert_error(&app.server().get(&format!("/api/v1/users?cursor={cursor}")).await, 400, "INVALID_CURSOR");
    assert!(ids(&app.server().get("/api/v1/users?team_id=7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21").await).is_empty());
}
