//! `GET /api/v1/users/me/activity`.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::TestApp;

use super::{ACTIVITY, assert_error, each, page, pages, rename, wrong_password};

/// The entries of the audit trail that a user may read.
async fn activity(app: &TestApp, user: &support::SignedInUser) -> Vec<Value> {
    pages(&app.signed_in(user), &format!("{ACTIVITY}?limit=100")).await.concat()
}

#[tokio::test]
async fn users_can_read_the_activity_of_their_accounts() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_mins(1));
    wrong_password(&app, "ada@example.com").await;
    wrong_password(&app, "ada@example.com").await;
    app.advance(SignedDuration::from_mins(1));
    let again = app.sign_in("ada@example.com").await;

    let found = activity(&app, &again).await;
    assert_eq!(each(&found, "events"), [&json!(["sign-in"]), &json!(["sign-in-failed"]), &json!(["created", "sign-in"])]);
    assert_eq!(each(&found, "actor"), ["you", "somebody", "you"]);
    assert_eq!(each(&found, "count"), [1, 2, 1]);
    assert_eq!(found[0]["method"], json!(["pwd"]));
    assert_eq!(found[1]["place"]["ip"], "127.0.0.1");
    assert_eq!(found[0]["at"], "2026-01-01T12:02:00.000Z");
}

#[tokio::test]
async fn a_user_sees_only_the_role_of_an_operator() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let path = format!("/api/v1/users/{}", ada.user_id);
    app.advance(SignedDuration::from_mins(1));
    let change = json!({ "server_metadata": { "risk": "high" }, "otp_auth_enabled": false });
    assert_eq!(app.server().patch(&path, change).await.status(), 200);
    app.advance(SignedDuration::from_mins(1));
    assert_eq!(app.admin().patch(&path, json!({ "otp_auth_enabled": true })).await.status(), 200);
    app.advance(SignedDuration::from_mins(1));

    let found = activity(&app, &app.sign_in("ada@example.com").await).await;
    assert_eq!(each(&found[1..3], "actor"), ["administrator", "server"]);
    assert_eq!(each(&found[1..3], "place"), [&Value::Null, &Value::Null]);
    let names: Vec<&String> = found[1].as_object().unwrap().keys().collect();
    assert_eq!(names, ["actor", "at", "count", "events", "id", "method", "place"]);
    let text = Value::from(found).to_string();
    let keys = super::entries(&app, "operation=users-user-update").await;
    for hidden in ["key", "operation", "server_metadata", "users-user-update", keys[0]["actor"]["key_set_id"].as_str().unwrap()] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
}

#[tokio::test]
async fn a_user_cannot_read_the_activity_of_others() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    wrong_password(&app, "bob@example.com").await;
    let of_bob = activity(&app, &bob).await;
    let of_ada = activity(&app, &ada).await;
    assert_eq!((of_ada.len(), of_bob.len()), (1, 2));
    assert!(each(&of_ada, "id").iter().all(|id| !each(&of_bob, "id").contains(id)));
    let (_, cursor) = page(&app.signed_in(&bob), &format!("{ACTIVITY}?limit=1")).await;
    let with = format!("{ACTIVITY}?limit=1&cursor={}", cursor.unwrap());
    assert_error(&app.signed_in(&ada).get(&with).await, 400, "INVALID_CURSOR");
    assert_eq!(app.signed_in(&bob).get(&with).await.status(), 200);
    assert_error(&app.signed_in(&ada).get(&format!("{ACTIVITY}?user_id={}", bob.user_id)).await, 400, "SCHEMA_ERROR");
    assert_error(&app.client().get(ACTIVITY).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
    assert_error(&app.server().get(ACTIVITY).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
}

#[tokio::test]
async fn ended_sessions_and_other_projects_cannot_read_activity() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let other = app.another_project().await;
    let elsewhere = app.client_of(&other).with("x-stack-access-token", &ada.access_token);
    assert_error(&elsewhere.get(ACTIVITY).await, 401, "INVALID_PROJECT_FOR_ACCESS_TOKEN");
    assert_eq!(app.signed_in(&ada).delete("/api/v1/auth/sessions/current").await.status(), 200);
    assert_error(&app.signed_in(&ada).get(ACTIVITY).await, 401, "ACCESS_TOKEN_EXPIRED");
    let again = app.sign_in("ada@example.com").await;
    assert!(each(&activity(&app, &again).await, "events").contains(&&json!(["sign-out"])));
}

#[tokio::test]
async fn a_recreated_account_does_not_see_its_predecessor_s_activity() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    wrong_password(&app, "ada@example.com").await;
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", ada.user_id)).await.status(), 200);
    let again = app.sign_up("ada@example.com").await;
    assert_eq!(each(&activity(&app, &again).await, "events"), [&json!(["created", "sign-in"])]);
    assert_error(&app.signed_in(&ada).get(ACTIVITY).await, 401, "ACCESS_TOKEN_EXPIRED");
    // Administrators still see the deleted account's entries.
    assert!(super::entries(&app, &format!("user_id={}", ada.user_id)).await.len() >= 3);
}

#[tokio::test]
async fn pages_list_every_entry_with_an_event_once() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for _ in 0..6 {
        app.advance(SignedDuration::from_hours(30));
        wrong_password(&app, "ada@example.com").await;
        // A change without an event appears only in the project's list.
        rename(&app, &ada, "Ada").await;
        rename(&app, &ada, "Lovelace").await;
    }
    let again = app.sign_in("ada@example.com").await;
    let all = activity(&app, &again).await;
    assert_eq!(all.len(), 8);
    assert!(each(&all, "events").iter().all(|events| !events.as_array().unwrap().is_empty()));
    for limit in [1, 3, 7, 8] {
        assert_eq!(pages(&app.signed_in(&again), &format!("{ACTIVITY}?limit={limit}")).await.concat(), all);
    }
    for limit in ["0", "101", "many"] {
        assert_error(&app.signed_in(&again).get(&format!("{ACTIVITY}?limit={limit}")).await, 400, "SCHEMA_ERROR");
    }
}
