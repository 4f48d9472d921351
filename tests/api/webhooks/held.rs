//! Endpoints that another worker has claimed are not forgotten, but are not retried all the time.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use model::webhook::Lane;
use serde_json::{Value, json};
use store::webhook::queue::LEASE;
use support::receiver::{Receiver, Reply};
use support::until::until;
use support::{TestApp, refused};
use tokio::time::timeout;
use wire::id::WebhookEndpointId;
use workers::webhooks::Courier;

use super::{create_user, deliveries, endpoint_at};

fn lane(app: &TestApp, endpoint: &Value) -> Lane {
    (app.project_id().clone(), WebhookEndpointId::parse(endpoint["id"].as_str().unwrap()).unwrap())
}

/// Processes due endpoints as a separate worker does, until no endpoint is due. Returns the number
/// of calls to the table.
async fn drain(app: &TestApp) -> usize {
    app.recorder.clear();
    let drained = timeout(Duration::from_secs(120), async { Courier::default().drain(&app.app, Timestamp::MAX).await });
    assert!(matches!(drained.await, Ok(Ok(()))), "a worker without work ends");
    app.recorder.calls().len()
}

/// Makes a claimed endpoint due, as can happen if an index lags behind its table, or after a change
/// by an earlier version.
fn make_due(app: &TestApp, (project, endpoint): &Lane) {
    let text = |value: String| json!({ "S": value });
    let update = json!({
        "TableName": gateway::engine::TABLE,
        "Key": { "pk": text(format!("W#{project}#{endpoint}")), "sk": text("STATE".to_owned()) },
        "ConditionExpression": "attribute_exists(lease)",
        "UpdateExpression": "SET gsi2sk = :at",
        "ExpressionAttributeValues": { ":at": text(format!("{:015}#{project}#{endpoint}", app.now().as_millisecond())) },
    });
    app.database().update_item(serde_json::from_value(update).unwrap()).unwrap();
}

#[tokio::test]
async fn a_worker_ends_if_the_only_endpoint_is_held_and_its_holder_goes_on() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let lane = lane(&app, &endpoint_at(&app, &receiver, &["user.created"]).await);
    create_user(&app, "Ada").await;
    app.record_webhooks().await;
    let claimed = app.app.store.claim_webhook(&lane, app.now()).await.unwrap().unwrap();
    create_user(&app, "Bob").await;
    app.record_webhooks().await;
    assert!(app.app.store.due_webhooks(app.now(), 10).await.unwrap().is_empty());
    assert_eq!(drain(&app).await, 4, "one search in each shard");
    assert!(receiver.received().is_empty());
    // The other worker does not find a due endpoint, although another event has been recorded.
    app.app.store.release_webhook(&claimed, None, app.now()).await.unwrap();
    assert_eq!(app.app.store.due_webhooks(app.now(), 10).await.unwrap(), [lane]);
    drain(&app).await;
    assert_eq!(receiver.received().len(), 2);
}

#[tokio::test]
async fn the_endpoint_of_a_worker_that_was_killed_is_due_when_its_lease_ends() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let lane = lane(&app, &endpoint_at(&app, &receiver, &["user.created"]).await);
    create_user(&app, "Ada").await;
    app.record_webhooks().await;
    app.app.store.claim_webhook(&lane, app.now()).await.unwrap().unwrap();
    app.advance(LEASE - SignedDuration::from_millis(1));
    create_user(&app, "Bob").await;
    app.record_webhooks().await;
    drain(&app).await;
    assert!(receiver.received().is_empty());
    app.advance(SignedDuration::from_millis(1));
    create_user(&app, "Eve").await;
    app.record_webhooks().await;
    drain(&app).await;
    assert_eq!(receiver.received().len(), 3);
    // Once the endpoint is no longer claimed, an event makes it due immediately.
    create_user(&app, "Dan").await;
    app.deliver_webhooks().await;
    assert_eq!(receiver.received().len(), 4);
}

#[tokio::test]
async fn an_endpoint_that_cannot_be_claimed_is_left_out_for_some_seconds() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let lane = lane(&app, &endpoint_at(&app, &receiver, &["user.created"]).await);
    create_user(&app, "Ada").await;
    app.record_webhooks().await;
    app.app.store.claim_webhook(&lane, app.now()).await.unwrap().unwrap();
    make_due(&app, &lane);
    assert_eq!(drain(&app).await, 9, "two searches in each shard, and one claim");
    // The courier of a gateway tries the endpoint again.
    let mut courier = Courier::default();
    let mut begun = Vec::new();
    for _ in 0..4 {
        begun.push(courier.begin(&app.app, Timestamp::MAX).await.unwrap());
        while courier.ended().await {}
        app.advance(SignedDuration::from_millis(2500));
    }
    assert_eq!(begun, [1, 0, 1, 0]);
    assert!(receiver.received().is_empty());
    app.advance(LEASE);
    courier.drain(&app.app, Timestamp::MAX).await.unwrap();
    assert_eq!(receiver.received().len(), 1);
}

#[tokio::test]
async fn an_endpoint_whose_claim_fails_is_not_tried_again_at_once() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    endpoint_at(&app, &receiver, &["user.created"]).await;
    create_user(&app, "Ada").await;
    app.record_webhooks().await;
    app.recorder.break_writes(0, 1, refused("AccessDeniedException"));
    Courier::default().drain(&app.app, Timestamp::MAX).await.unwrap();
    assert!(app.recorder.is_done() && receiver.received().is_empty());
    drain(&app).await;
    assert_eq!(receiver.received().len(), 1);
}

#[tokio::test]
async fn a_search_that_fails_does_not_abort_deliveries() {
    let app = TestApp::start().await;
    let receiver = Receiver::answering(vec![Reply::Held(204)]).await;
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    create_user(&app, "Ada").await;
    app.record_webhooks().await;
    let failed = {
        let mut courier = Courier::default();
        assert_eq!(courier.begin(&app.app, Timestamp::MAX).await.unwrap(), 1);
        until("the delivery arrives", || receiver.held() == 1).await;
        app.recorder.break_call(0, refused("AccessDeniedException"));
        let answer = async {
            until("the search fails", || app.recorder.is_done()).await;
            receiver.release();
        };
        tokio::join!(courier.drain(&app.app, Timestamp::MAX), answer).0
    };
    assert!(failed.is_err() && app.recorder.is_done());
    assert_eq!(deliveries(&app, &created).await[0]["status"], "succeeded");
}
