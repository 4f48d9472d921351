//! Failed deliveries are replayed in pages, and only once, even if several requests are concurrent.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use model::webhook::delivery::{Attempt, Delivery};
use model::webhook::event::{EventType, Message};
use serde_json::{Value, json};
use support::TestApp;
use support::receiver::{ReceivedRequest, Receiver};
use wire::id::WebhookEndpointId;

use super::{deliveries, endpoint_at, path};

/// Stores failed deliveries as earlier versions did.
async fn failed_deliveries(app: &TestApp, endpoint: &Value, count: usize) {
    for number in 0..count {
        failed_delivery(app, endpoint, number, app.now(), "").await;
    }
}

async fn failed_delivery(app: &TestApp, endpoint: &Value, number: usize, at: Timestamp, text: &str) {
    let id = WebhookEndpointId::parse(endpoint["id"].as_str().unwrap()).unwrap();
    let body = json!({ "type": "user.created", "data": { "number": number, "text": text } }).to_string();
    let message = Message { id: format!("msg_{number}"), event_type: EventType::UserCreated, at, body };
    let mut delivery = Delivery::new(app.app.entropy.ordered_uuid(at).into(), message, at);
    delivery.attempted_once(Attempt { at, response_status: Some(500), duration_millis: 1, error: None, answer: None });
    assert!(!serde_json::to_string(&delivery).unwrap().contains("replayed"));
    app.app.store.put_webhook_delivery(&(app.project_id().clone(), id), &delivery).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_replays_deliver_each_event_once() {
    let (app, receiver) = (TestApp::start_unobserved().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    failed_deliveries(&app, &created, 70).await;
    let replay = async || app.admin().post(&path(&created, "/replay-failed"), json!({ "since_millis": 0 })).await;
    let answers = join_all((0..4).map(|_| replay())).await;
    // A request that has conflicted with other requests too often is refused. A later request
    // replays the remaining deliveries.
    let answers = answers.into_iter().chain([replay().await]);
    let count: u64 = answers.filter(|answer| answer.status() == 200).map(|answer| answer.json()["count"].as_u64().unwrap()).sum();
    app.deliver_webhooks().await;
    let received = receiver.received();
    let ids: BTreeSet<&str> = received.iter().map(|received| received.header("webhook-id")).collect();
    assert_eq!((count, received.len(), ids.len()), (70, 70, 70));
}

#[tokio::test]
async fn a_replayed_delivery_is_marked_and_skipped() {
    let (app, receiver) = (TestApp::start_unobserved().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    failed_deliveries(&app, &created, 3).await;
    let before = deliveries(&app, &created).await;
    assert_eq!(before[1]["replayed_at_millis"], json!(null));
    let replay = path(&created, &format!("/deliveries/{}/replay", before[1]["id"].as_str().unwrap()));
    assert_eq!(app.admin().post(&replay, json!({})).await.status(), 200);
    let all = deliveries(&app, &created).await;
    let marked: Vec<&Value> = all.iter().filter(|delivery| !delivery["replayed_at_millis"].is_null()).collect();
    assert_eq!((marked.len(), &marked[0]["id"]), (1, &before[1]["id"]));
    assert_eq!(marked[0]["replayed_at_millis"], app.now().as_millisecond());
    let rest = app.admin().post(&path(&created, "/replay-failed"), json!({ "since_millis": 0 })).await;
    assert_eq!(rest.json()["count"], 2);
    let unknown = path(&created, "/deliveries/6b0f6c3d-1c2e-4f5a-9b8c-7d6e5f403122/replay");
    assert_eq!(app.admin().post(&unknown, json!({})).await.code(), "WEBHOOK_DELIVERY_NOT_FOUND");
    assert_eq!(app.admin().delete(&path(&created, "")).await.status(), 200);
    assert_eq!(
        app.admin().post(&path(&created, "/replay-failed"), json!({ "since_millis": 0 })).await.code(),
        "WEBHOOK_ENDPOINT_NOT_FOUND"
    );
}

#[tokio::test]
async fn failed_deliveries_are_replayed_in_pages_from_a_time_on() {
    let (app, receiver) = (TestApp::start_unobserved().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    // There are four deliveries per second. All 60 deliveries exceed one page of a replay.
    let (start, large) = (app.now().as_second(), "x".repeat(62_000));
    for (number, second) in (0..60).zip((start..).flat_map(|second| [second; 4])) {
        failed_delivery(&app, &created, number, Timestamp::from_second(second).unwrap(), &large).await;
    }
    app.advance(SignedDuration::from_hours(1));
    let replay = async |since: i64| app.admin().post(&path(&created, "/replay-failed"), json!({ "since_millis": since })).await.json();
    let delivered = async || {
        let before = receiver.received().len();
        app.deliver_webhooks().await;
        let received = receiver.received();
        let number = |event: &ReceivedRequest| event.json()["data"]["number"].as_u64().unwrap();
        let mut numbers: Vec<u64> = received[before..].iter().map(number).collect();
        numbers.sort_unstable();
        numbers
    };
    // The first page ends between two seconds, so the second page misses no delivery.
    assert_eq!(replay(0).await, json!({ "count": 52, "next_since_millis": (start + 13) * 1000 }));
    assert_eq!(delivered().await, (0..52).collect::<Vec<_>>());
    // The times of events are whole seconds, so a time within a second includes all events of this
    // second.
    assert_eq!(replay((start + 13) * 1000 + 999).await, json!({ "count": 8, "next_since_millis": null }));
    assert_eq!(delivered().await, (52..60).collect::<Vec<_>>());
    assert_eq!(replay(0).await, json!({ "count": 0, "next_since_millis": null }), "each is replayed once");
}
