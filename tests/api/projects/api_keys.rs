//! `/api/v1/internal/api-keys`. Key sets are created, listed, changed and revoked, and they expire.
//! Each key is shown only once.

use jiff::SignedDuration;
use model::project::KeyKind;
use model::project::key_set::{MAX_DESCRIPTION, MAX_SETS, NewKeys};
use serde_json::{Value, json};
use store::project::key_set;
use support::{Answer, TestApp};

use crate::auth::assert_error;

const KEYS: &str = "/api/v1/internal/api-keys";

fn new_set(app: &TestApp) -> Value {
    json!({
        "description": "Backend", "expires_at_millis": (app.now() + SignedDuration::from_hours(1)).as_millisecond(),
        "has_publishable_client_key": true, "has_secret_server_key": true, "has_super_secret_admin_key": true,
    })
}

async fn create(app: &TestApp) -> Value {
    let created = app.admin().post(KEYS, new_set(app)).await;
    assert_eq!(created.status(), 200, "{}", created.text());
    created.json()
}

/// The statuses of three requests, each with one of the keys of a set.
async fn statuses(app: &TestApp, set: &Value) -> [u16; 3] {
    let key = |name: &str| set[name].as_str().unwrap().to_owned();
    let client = app.client().with("x-stack-publishable-client-key", &key("publishable_client_key"));
    let server = app.server().with("x-stack-secret-server-key", &key("secret_server_key"));
    let admin = app.admin().with("x-stack-super-secret-admin-key", &key("super_secret_admin_key"));
    [
        client.get("/api/v1/projects/current").await.status(),
        server.get("/api/v1/users").await.status(),
        admin.get("/api/v1/internal/projects/current").await.status(),
    ]
}

fn without_keys(set: &Value) -> Value {
    let mut set = set.clone();
    for name in ["publishable_client_key", "secret_server_key", "super_secret_admin_key"] {
        let text = set[name].as_str().unwrap().to_owned();
        set[name] = json!({ "last_four": &text[text.len() - 4..] });
    }
    set
}

#[tokio::test]
async fn keys_grant_their_access_type_and_are_shown_once() {
    let app = TestApp::start().await;
    let set = create(&app).await;
    for (name, prefix) in [("publishable_client_key", "pck_"), ("secret_server_key", "ssk_"), ("super_secret_admin_key", "sak_")] {
        let key = set[name].as_str().unwrap();
        assert!(key.starts_with(prefix) && key.len() == 49, "{name}");
    }
    assert_eq!((&set["description"], &set["created_at_millis"]), (&"Backend".into(), &app.now().as_millisecond().into()));
    assert_eq!(statuses(&app, &set).await, [200; 3]);
    let read = app.admin().get(&format!("{KEYS}/{}", set["id"].as_str().unwrap())).await;
    assert_eq!((read.status(), read.json()), (200, without_keys(&set)));
    let table = format!("{:?}", app.table());
    assert!(!table.contains(set["secret_server_key"].as_str().unwrap()), "the table contains a key in the clear");
}

#[tokio::test]
async fn a_set_has_the_requested_keys() {
    let app = TestApp::start().await;
    let mut body = new_set(&app);
    (body["has_publishable_client_key"], body["has_super_secret_admin_key"]) = (false.into(), false.into());
    let set = app.admin().post(KEYS, body.clone()).await.json();
    let names = |set: &Value| set.as_object().unwrap().keys().filter(|name| name.ends_with("_key")).cloned().collect::<Vec<_>>();
    assert_eq!(names(&set), ["secret_server_key"]);
    assert_eq!(names(&app.admin().get(&format!("{KEYS}/{}", set["id"].as_str().unwrap())).await.json()), ["secret_server_key"]);
    body["has_secret_server_key"] = false.into();
    assert_error(&app.admin().post(KEYS, body).await, 400, "SCHEMA_ERROR");
}

#[tokio::test]
async fn sets_are_listed_newest_first_including_the_initial_one() {
    let app = TestApp::start().await;
    let first = app.admin().get(KEYS).await.json()["items"][0].clone();
    assert_eq!((&first["description"], &first["expires_at_millis"]), (&"Made with the project".into(), &253_402_300_799_000_i64.into()));
    let mut ids = vec![first["id"].clone()];
    for _ in 0..3 {
        app.advance(SignedDuration::from_secs(1));
        ids.insert(0, create(&app).await["id"].clone());
    }
    let list = app.admin().get(KEYS).await.json();
    let listed: Vec<Value> = list["items"].as_array().unwrap().iter().map(|set| set["id"].clone()).collect();
    assert_eq!((listed, &list["is_paginated"]), (ids, &false.into()));
}

async fn patch(app: &TestApp, set: &Value, body: Value) -> Answer {
    app.admin().patch(&format!("{KEYS}/{}", set["id"].as_str().unwrap()), body).await
}

#[tokio::test]
async fn a_revoked_set_stops_working_immediately_and_permanently() {
    let app = TestApp::start().await;
    let (set, other) = (create(&app).await, create(&app).await);
    let revoked = patch(&app, &set, json!({ "revoked": true })).await;
    let at = app.now().as_millisecond();
    assert_eq!((revoked.status(), &revoked.json()["manually_revoked_at_millis"]), (200, &at.into()));
    assert_eq!(statuses(&app, &set).await, [401; 3]);
    assert_eq!(statuses(&app, &other).await, [200; 3]);
    app.advance(SignedDuration::from_secs(5));
    let again = patch(&app, &set, json!({ "revoked": true, "description": "Old" })).await.json();
    assert_eq!((&again["manually_revoked_at_millis"], &again["description"]), (&at.into(), &"Old".into()));
    assert_error(&patch(&app, &set, json!({ "revoked": false })).await, 400, "SCHEMA_ERROR");
    assert_eq!(statuses(&app, &set).await, [401; 3]);
}

#[tokio::test]
async fn a_set_expires_at_its_expiry() {
    let app = TestApp::start().await;
    let set = create(&app).await;
    app.advance(SignedDuration::from_secs(3599));
    assert_eq!(statuses(&app, &set).await, [200; 3]);
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(statuses(&app, &set).await, [401; 3]);
    let listed = app.admin().get(KEYS).await.json();
    assert!(listed["items"].as_array().unwrap().iter().any(|listed| listed["id"] == set["id"]), "an expired set is still listed");
}

#[tokio::test]
async fn a_set_s_description_can_be_changed() {
    let app = TestApp::start().await;
    let set = create(&app).await;
    let described = patch(&app, &set, json!({ "description": "" })).await;
    assert_eq!((described.status(), &described.json()["description"]), (200, &"".into()));
    assert_eq!(patch(&app, &set, json!({})).await.json()["description"], "");
    assert_eq!(statuses(&app, &set).await, [200; 3]);
}

#[tokio::test]
async fn an_invalid_request_creates_no_key() {
    let app = TestApp::start().await;
    let now = app.now().as_millisecond();
    for (field, value) in [
        ("description", json!("x".repeat(257))),
        ("description", json!("two\nlines")),
        ("expires_at_millis", json!(now)),
        ("expires_at_millis", json!("soon")),
        ("has_secret_server_key", json!(null)),
    ] {
        let mut body = new_set(&app);
        body[field] = value;
        assert_error(&app.admin().post(KEYS, body).await, 400, "SCHEMA_ERROR");
    }
    assert_eq!(app.admin().get(KEYS).await.json()["items"].as_array().unwrap().len(), 1);
    let nothing = json!({ "id": "c4a1d2e3-5f60-4b7a-8c9d-0e1f2a3b4c5d" });
    assert_error(&patch(&app, &nothing, json!({ "revoked": true })).await, 404, "API_KEY_NOT_FOUND");
    assert_error(&app.admin().get(&format!("{KEYS}/c4a1d2e3-5f60-4b7a-8c9d-0e1f2a3b4c5d")).await, 404, "API_KEY_NOT_FOUND");
    assert_error(&app.server().get(KEYS).await, 403, "INSUFFICIENT_ACCESS_TYPE");
}

#[tokio::test]
async fn sets_of_another_project_are_not_found() {
    let app = TestApp::start().await;
    let set = create(&app).await;
    let other = app.another_project().await;
    let admin = app.admin_of(&other);
    assert_error(&admin.get(&format!("{KEYS}/{}", set["id"].as_str().unwrap())).await, 404, "API_KEY_NOT_FOUND");
    assert_eq!(admin.get(KEYS).await.json()["items"].as_array().unwrap().len(), 1);
    assert_eq!(statuses(&app, &set).await, [200; 3]);
}

#[tokio::test]
async fn the_time_that_means_never_is_accepted_as_responses_show_it() {
    let app = TestApp::start().await;
    let create = async |expires: &Value| {
        let mut wanted = new_set(&app);
        wanted["expires_at_millis"] = expires.clone();
        app.admin().post(KEYS, wanted).await
    };
    let sets = app.admin().get(KEYS).await.json();
    let never = sets["items"][0]["expires_at_millis"].clone();
    assert_eq!(never, 253_402_300_799_000_i64, "the project's first keys never expire");
    let again = create(&never).await;
    assert_eq!((again.status(), &again.json()["expires_at_millis"]), (200, &never), "{}", again.text());
    let later = create(&json!(i64::MAX)).await;
    assert_eq!(later.json()["expires_at_millis"], never);
    let last = create(&json!(253_402_207_200_000_i64)).await;
    assert_eq!(last.json()["expires_at_millis"], 253_402_207_200_000_i64, "the latest time that can be represented is accepted");
    app.advance(SignedDuration::from_hours(24 * 365 * 100));
    assert_eq!(statuses(&app, &again.json()).await, [200; 3]);
    for wrong in [json!(253_402_300_798_999_i64), json!(-1), json!(0), json!("never"), Value::Null] {
        let answer = create(&wrong).await;
        assert_error(&answer, 400, "SCHEMA_ERROR");
    }
}

/// Adds sets directly to the project until it has this many.
async fn fill(app: &TestApp, count: usize) {
    let project = app.project_id();
    for _ in app.app.store.key_sets(project).await.unwrap().len()..count {
        app.advance(SignedDuration::from_secs(1));
        let description = "\"".repeat(MAX_DESCRIPTION);
        let new = NewKeys::random(&app.app.entropy, KeyKind::ALL, description, app.now());
        app.app.store.transact(key_set::create(project, &new).unwrap()).await.unwrap();
    }
}

#[tokio::test]
async fn a_project_has_at_most_the_maximum_of_sets() {
    let app = TestApp::start().await;
    fill(&app, MAX_SETS - 1).await;
    let set = create(&app).await;
    let refused = app.admin().post(KEYS, new_set(&app)).await;
    assert_error(&refused, 400, "TOO_MANY_API_KEY_SETS");
    assert_eq!(refused.json()["details"], json!({ "max": MAX_SETS }));
    let list = app.admin().get(KEYS).await;
    assert_eq!((list.json()["items"].as_array().unwrap().len(), list.json()["is_paginated"].clone()), (MAX_SETS, json!(false)));
    assert!(list.bytes().len() < 1_000_000, "{} bytes", list.bytes().len());

    assert_eq!(patch(&app, &set, json!({ "revoked": true })).await.status(), 200);
    let another = create(&app).await;
    assert_eq!(statuses(&app, &another).await, [200; 3]);
    assert_error(&app.admin().get(&format!("{KEYS}/{}", set["id"].as_str().unwrap())).await, 404, "API_KEY_NOT_FOUND");
    assert_eq!(statuses(&app, &set).await, [401; 3], "the deleted keys stay invalid");
    assert_error(&app.admin().post(KEYS, new_set(&app)).await, 400, "TOO_MANY_API_KEY_SETS");
}

#[tokio::test]
async fn the_set_that_ended_first_makes_room() {
    let app = TestApp::start().await;
    let expiring = create(&app).await;
    let revoked = create(&app).await;
    fill(&app, MAX_SETS).await;
    assert_eq!(patch(&app, &revoked, json!({ "revoked": true })).await.status(), 200);
    app.advance(SignedDuration::from_hours(2));
    let exists = async |set: &Value| app.admin().get(&format!("{KEYS}/{}", set["id"].as_str().unwrap())).await.status() == 200;
    for left in [[true, false], [false, false]] {
        create(&app).await;
        assert_eq!([exists(&expiring).await, exists(&revoked).await], left);
    }
}
