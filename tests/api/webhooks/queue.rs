//! The costs of searching the queue of an endpoint. Neither a long queue nor a failing endpoint may
//! keep the table busy.

use std::collections::BTreeSet;

use flows::App;
use model::webhook::Lane;
use model::webhook::delivery::Delivery;
use model::webhook::event::{EventType, Message};
use serde_json::{Value, json};
use store::webhook::delivery::NewDelivery;
use support::receiver::Receiver;
use support::{ROUND_TRIP, TestApp};
use wire::id::WebhookEndpointId;

use super::{create_user, endpoint_at};

/// Records this many deliveries, each with an event about a different item.
async fn record(app: &App, lane: &Lane, count: usize) {
    let now = app.clock.now();
    let one = |number: usize| {
        let message = Message::new(format!("msg_{number}"), EventType::UserCreated, now, json!({ "id": number }));
        let (position, object) = (format!("{number:040}"), number.to_string());
        NewDelivery { lane: lane.clone(), delivery: Delivery::of(message, lane.1, now), position, object }
    };
    app.store.record_webhooks((0..count).map(one).collect(), BTreeSet::new(), now).await.unwrap();
}

/// The number of read units that all searches of the queue cost for each delivery.
async fn units_for_each(count: usize) -> f64 {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    let endpoint = WebhookEndpointId::parse(created["id"].as_str().unwrap()).unwrap();
    record(&app.app, &(app.project_id().clone(), endpoint), count).await;
    app.recorder.trace(app.database());
    app.deliver_webhooks().await;
    assert_eq!(receiver.received().len(), count);
    let is_search = |body: &Value| body["ExpressionAttributeValues"][":prefix"]["S"] == "QUEUE#";
    let searches: Vec<f64> = app.recorder.take_traced().iter().filter(|call| is_search(&call.body)).map(|call| call.units).collect();
    assert!(!searches.is_empty());
    searches.iter().sum::<f64>() / f64::from(u32::try_from(count).unwrap())
}

#[tokio::test]
async fn a_delivery_costs_no_more_reads_in_a_longer_queue() {
    let (short, long) = (units_for_each(128).await, units_for_each(768).await);
    assert!(long < short * 2.0, "{short} and {long} units");
}

#[tokio::test]
async fn the_work_on_a_failing_endpoint_rests_after_each_search() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    endpoint_at(&app, &receiver, &["user.created"]).await;
    create_user(&app, "Ada").await;
    app.record_webhooks().await;
    // Each attempt fails without a connection, so only calls to the table and the pauses after
    // searches take time.
    let strict = app.redeployed(|settings| settings.allow_private_issuers = false);
    strict.recorder.measure();
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    strict.deliver_webhooks().await;
    let calls = strict.recorder.consumed().calls;
    assert!(receiver.received().is_empty() && calls > 0);
    assert!(began.elapsed() > ROUND_TRIP * calls, "{:?} for {calls} calls", began.elapsed());
}
