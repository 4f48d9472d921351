//! The filters of the stream in the workers' stack. On AWS, only changes that match a filter reach
//! the worker. Every change that causes an event must therefore match a filter.

use std::collections::BTreeSet;

use infra::checked_in::root;
use model::webhook::event::EventType;
use serde_json::{Value, json};
use store::table::stream::records;
use store::webhook::changes;
use support::TestApp;
use support::receiver::Receiver;

use super::{create_user, endpoint_at};

/// The patterns of a worker's event source mapping.
fn filters(stream: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(root().join("infra/stacks/workers.yaml")).unwrap();
    let stack: Value = serde_saphyr::from_str(&text).unwrap();
    let filters = &stack["Resources"][stream]["Properties"]["FilterCriteria"]["Filters"];
    let pattern = |filter: &Value| serde_json::from_str(filter["Pattern"].as_str().unwrap()).unwrap();
    filters.as_array().unwrap().iter().map(pattern).collect()
}

/// Whether a value matches a pattern. All fields of an object must match. For an array, only one
/// rule must match.
fn matches(pattern: &Value, found: &Value) -> bool {
    match pattern {
        Value::Object(fields) => fields.iter().all(|(name, pattern)| matches(pattern, &found[name])),
        Value::Array(rules) => rules.iter().any(|rule| follows(rule, found)),
        other => panic!("{other} is not a pattern"),
    }
}

/// Whether a value satisfies a rule. A rule requires existence, absence, a prefix, or an equal
/// string.
fn follows(rule: &Value, found: &Value) -> bool {
    match (rule["exists"].as_bool(), rule["prefix"].as_str()) {
        (Some(exists), _) => exists != found.is_null(),
        (None, Some(prefix)) => found.as_str().is_some_and(|found| found.starts_with(prefix)),
        (None, None) if rule.is_string() => rule == found,
        (None, None) => panic!("{rule} is not a known rule"),
    }
}

/// Makes every kind of change that causes an event.
async fn make_changes(app: &TestApp) {
    let (server, admin) = (app.server(), app.admin());
    let user = create_user(app, "Ada").await["id"].as_str().unwrap().to_owned();
    let team = server.post("/api/v1/teams", json!({ "display_name": "Team" })).await.json()["id"].as_str().unwrap().to_owned();
    let body = json!({ "user_ids": [user], "subject": "Hello", "html": "<p>Hello</p>" });
    assert_eq!(server.post("/api/v1/emails/send-email", body).await.status(), 200);
    app.send_emails().await;
    let ends = app.now().as_millisecond() + 1000;
    let body = json!({ "description": "x", "expires_at_millis": ends, "has_publishable_client_key": true, "has_secret_server_key": false, "has_super_secret_admin_key": false });
    let key = admin.post("/api/v1/internal/api-keys", body).await.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(admin.patch(&format!("/api/v1/internal/api-keys/{key}"), json!({ "revoked": true })).await.status(), 200);
    assert_eq!(admin.post("/api/v1/project-permission-definitions", json!({ "id": "audit" })).await.status(), 201);
    let eve = app.sign_up("eve@example.com").await;
    assert_eq!(app.signed_in(&eve).delete("/api/v1/auth/sessions/current").await.status(), 200);

    let (of_user, of_team) = (format!("/api/v1/users/{user}"), format!("/api/v1/teams/{team}"));
    let membership = format!("/api/v1/team-memberships/{team}/{user}");
    let in_team = format!("/api/v1/team-permissions/{team}/{user}/$update_team");
    let in_project = format!("/api/v1/project-permissions/{user}/audit");
    for path in [&membership, &in_team, &in_project] {
        assert_eq!(server.post(path, json!({})).await.status(), 201, "{path}");
    }
    for path in [&of_user, &of_team] {
        assert_eq!(server.patch(path, json!({ "display_name": "Other" })).await.status(), 200, "{path}");
    }
    change_owned_keys(app, "/api/v1/user-api-keys", ("user_id", &user)).await;
    change_owned_keys(app, "/api/v1/team-api-keys", ("team_id", &team)).await;
    for path in [&in_project, &in_team, &membership, &of_team, &of_user] {
        assert_eq!(server.delete(path).await.status(), 200, "{path}");
    }
}

/// Creates and revokes an API key of a user or team. The key is removed a month later.
async fn change_owned_keys(app: &TestApp, path: &str, (owner, id): (&str, &str)) {
    app.configure(json!({ "config": { "allow_user_api_keys": true, "allow_team_api_keys": true } })).await;
    let body = json!({ owner: id, "description": "CI", "expires_at_millis": null });
    let key = app.server().post(path, body.clone()).await.json();
    let of_key = format!("{path}/{}?{owner}={id}", key["id"].as_str().unwrap());
    assert_eq!(app.server().patch(&of_key, json!({ "revoked": true })).await.status(), 200);
    app.advance(jiff::SignedDuration::from_hours(31 * 24));
    assert_eq!(app.server().post(path, body).await.status(), 200);
}

#[tokio::test]
async fn every_change_that_makes_an_event_passes_the_filters() {
    let (app, receiver, filters) = (TestApp::start().await, Receiver::start().await, filters("WorkersOutboxStream"));
    endpoint_at(&app, &receiver, &[]).await;
    make_changes(&app).await;
    while let Some(batch) = app.changes().await {
        for record in batch.event["Records"].as_array().unwrap() {
            let found = records(&json!({ "Records": [record] })).remove(0);
            let means_something = changes::parse(found).unwrap().is_some();
            assert!(!means_something || filters.iter().any(|filter| matches(filter, record)), "{record}");
        }
        app.record_batch(batch).await;
    }
    // The changes above cause events of every type except tests.
    app.deliver_webhooks().await;
    let mut types: BTreeSet<String> = EventType::ALL.iter().map(|it| it.name().to_owned()).collect();
    types.remove(EventType::EndpointTest.name());
    assert_eq!(receiver.types().into_iter().collect::<BTreeSet<_>>(), types);
}

#[tokio::test]
async fn the_trail_s_worker_gets_every_entry_once() {
    let (app, receiver, filters) = (TestApp::start().await, Receiver::start().await, filters("WorkersTrailStream"));
    endpoint_at(&app, &receiver, &[]).await;
    app.sign_up("ada@example.com").await;
    let functions = app.as_functions();
    functions.sign_in("ada@example.com").await;
    app.process_trail(&functions.carrying_sessions()).await.unwrap();
    let ada = functions.sign_in("ada@example.com").await;
    let refresh = app.client().with("x-stack-refresh-token", &ada.refresh_token);
    assert_eq!(refresh.post("/api/v1/auth/sessions/current/refresh", json!({})).await.status(), 200);
    let mut passed = Vec::new();
    while let Some(batch) = app.changes().await {
        for record in batch.event["Records"].as_array().unwrap() {
            if filters.iter().any(|filter| matches(filter, record)) {
                let image = &record["dynamodb"]["NewImage"];
                let entry = if image["trail"].is_null() { &image["d"] } else { &image["trail"]["M"]["entry"] };
                passed.push(entry["M"]["operation"]["S"].as_str().unwrap().to_owned());
            }
        }
        app.record_batch(batch).await;
    }
    let expected = ["webhooks-endpoint-create", "auth-password-sign-up", "auth-password-sign-in", "auth-password-sign-in"];
    assert_eq!(passed, expected);
}
