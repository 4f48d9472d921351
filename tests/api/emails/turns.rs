//! Batches of the table's stream that wake the outbox worker, and the turns that the worker then
//! takes.

use jiff::SignedDuration;
use serde_json::{Value, json};
use store::outbox::work::is_in;
use support::{TestApp, refused};
use workers::outbox::drain_in_turn;

use super::{path, send};
use crate::webhooks::ENDPOINTS;

/// The events of all changes since the last call. A gateway records the events only for projects
/// with webhook endpoints.
async fn events(app: &TestApp) -> Vec<Value> {
    let mut events = Vec::new();
    while let Some(batch) = app.changes().await {
        events.push(batch.event.clone());
        app.record_batch(batch).await;
    }
    events
}

/// Whether the changes since the last call wake the outbox worker.
async fn wakes(app: &TestApp) -> bool {
    let now = app.now();
    events(app).await.iter().any(|event| is_in(event, now))
}

/// Runs the worker that the stream has woken, and returns the number of entries that the worker
/// advanced.
async fn woken(app: &TestApp) -> usize {
    drain_in_turn(&app.app, &app.inbox, app.now() + SignedDuration::from_mins(1)).await.unwrap()
}

#[tokio::test]
async fn only_changes_that_leave_due_work_wake_the_outbox_worker() {
    let app = TestApp::start().await;
    let body = json!({ "url": "https://example.com/hooks", "event_types": [] });
    assert_eq!(app.admin().post(ENDPOINTS, body).await.status(), 201);
    let ada = app.sign_up("ada@example.com").await;
    app.send_emails().await;
    events(&app).await;
    assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", json!({ "display_name": "Ada" })).await.status(), 200);
    assert!(!wakes(&app).await, "a user has changed");
    let id = send(&app, &ada, json!({})).await["id"].as_str().unwrap().to_owned();
    assert!(wakes(&app).await, "an email is due");
    let later = (app.now() + SignedDuration::from_hours(1)).as_millisecond();
    assert_eq!(app.server().patch(&path(&id), json!({ "scheduled_at_millis": later })).await.status(), 200);
    app.send_emails().await;
    let events = events(&app).await;
    let records = events.iter().flat_map(|event| event["Records"].as_array().unwrap());
    let mut of_entry = records.filter(|record| record["dynamodb"]["Keys"]["sk"]["S"] == "ENTRY");
    let record = of_entry.next_back().unwrap();
    let last = json!({ "Records": [record] });
    assert!(!is_in(&last, app.now()), "an email is due in an hour: {last}");
    assert!(is_in(&last, app.now() + SignedDuration::from_hours(2)));
}

#[tokio::test]
async fn woken_workers_take_turns_and_overlook_no_work() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.send_emails().await;
    let (store, until) = (&app.app.store, app.now() + SignedDuration::from_mins(2));
    assert!(store.begin_outbox_turn(app.now(), until).await.unwrap());
    let sent = app.inbox.messages(None).len();
    send(&app, &ada, json!({})).await;
    // The second worker leaves the email to the first worker, whose turn has not ended.
    assert_eq!(woken(&app).await, 0);
    assert_eq!(app.inbox.messages(None).len(), sent);
    assert!(!store.end_outbox_turn(until).await.unwrap());
    assert!(store.end_outbox_turn(until).await.unwrap());
    assert!(woken(&app).await > 0);
    assert_eq!(app.inbox.messages(None).len(), sent + 1);

    // An unfinished turn expires, and ending it later does not end another worker's turn.
    assert!(store.begin_outbox_turn(app.now(), until).await.unwrap());
    app.advance(SignedDuration::from_mins(2));
    send(&app, &ada, json!({})).await;
    let next = app.now() + SignedDuration::from_mins(2);
    assert!(store.begin_outbox_turn(app.now(), next).await.unwrap());
    assert!(store.end_outbox_turn(until).await.unwrap());
    assert_eq!(woken(&app).await, 0);
    // The scheduled worker does not need a turn.
    app.send_emails().await;
    assert_eq!(app.inbox.messages(None).len(), sent + 2);
}

#[tokio::test]
async fn a_woken_worker_that_fails_ends_its_turn() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    send(&app, &ada, json!({})).await;
    app.recorder.break_call(1, refused("ValidationException"));
    assert!(drain_in_turn(&app.app, &app.inbox, app.now() + SignedDuration::from_mins(1)).await.is_err());
    assert!(app.recorder.is_done());
    assert!(woken(&app).await > 0);
}
