//! Endpoints whose partition refuses writes. Their deliveries are set aside so that they do not
//! delay other endpoints, and are made later in order.

use std::sync::Arc;

use dynoxide::Database;
use gateway::engine::{Batch, TABLE};
use serde_json::{Value, json};
use support::receiver::{ReceivedRequest, Receiver};
use support::{Recorder, TestApp, refused};

use super::{ENDPOINTS, create_user, endpoint, endpoint_at, path};

/// The partition of an endpoint's deliveries.
fn partition(app: &TestApp, endpoint: &Value) -> String {
    format!("W#{}#{}", app.project_id(), endpoint["id"].as_str().unwrap())
}

/// Runs `work` while the table refuses writes to a partition. The clock is paused, so the waits
/// between attempts take no time.
async fn while_refused<T>(app: &TestApp, partition: &str, work: impl Future<Output = T>) -> T {
    app.recorder.break_writes_to(format!("\"{partition}\""), refused("ThrottlingException"));
    tokio::time::pause();
    let done = work.await;
    tokio::time::resume();
    app.recorder.clear();
    done
}

/// Records the events of all changes while the partition with the deliveries of this endpoint
/// refuses writes.
pub(crate) async fn record_refused(app: &TestApp, endpoint: &Value) {
    while_refused(app, &partition(app, endpoint), app.record_webhooks()).await;
}

fn take(app: &TestApp, (pk, sk): &(String, String)) -> Value {
    let item = app.table().remove(&(pk.clone(), sk.clone())).unwrap();
    let delete = json!({ "TableName": TABLE, "Key": { "pk": { "S": pk }, "sk": { "S": sk } } });
    app.database().delete_item(serde_json::from_value(delete).unwrap()).unwrap();
    item
}

async fn rename(app: &TestApp, user: &Value, name: &str) {
    let user = format!("/api/v1/users/{}", user["id"].as_str().unwrap());
    assert_eq!(app.server().patch(&user, json!({ "display_name": name })).await.status(), 200);
}

fn names(receiver: &Receiver) -> Vec<String> {
    receiver.received().iter().map(|event| event.json()["data"]["display_name"].as_str().unwrap().to_owned()).collect()
}

/// The keys of webhook items whose sort keys have this prefix.
fn keys(app: &TestApp, sk: &str) -> Vec<(String, String)> {
    app.table().into_keys().filter(|key| key.0.starts_with("W#") && key.1.starts_with(sk)).collect()
}

#[tokio::test]
async fn an_endpoint_whose_partition_is_throttled_delays_no_other_and_loses_nothing() {
    let (app, busy, second, other) = (TestApp::start().await, Receiver::start().await, Receiver::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &busy, &["user.created"]).await;
    endpoint_at(&app, &second, &["user.created"]).await;
    let project = app.another_project().await;
    let body = json!({ "url": other.url, "event_types": ["user.created"] });
    assert_eq!(app.admin_of(&project).post(ENDPOINTS, body).await.status(), 201);
    for number in 0..40 {
        create_user(&app, &format!("{number:02}")).await;
    }
    assert_eq!(app.server_of(&project).post("/api/v1/users", json!({ "display_name": "Bob" })).await.status(), 201);
    record_refused(&app, &created).await;
    assert_eq!(keys(&app, "DELIVERY#").len(), 41, "those of the other endpoints are recorded");
    app.deliver_webhooks().await;
    let all: Vec<String> = (0..40).map(|number| format!("{number:02}")).collect();
    for receiver in [&busy, &second] {
        let mut received = names(receiver);
        received.sort();
        assert_eq!(received, all);
    }
    assert_eq!(names(&other), ["Bob"]);
    assert!(keys(&app, "LATE#").is_empty());
    // From now on, no deliveries are set aside.
    create_user(&app, "Eve").await;
    app.record_webhooks().await;
    assert_eq!(keys(&app, "QUEUE#").len(), 2);
    app.deliver_webhooks().await;
    assert_eq!((busy.received().len(), second.received().len()), (41, 41));
}

#[tokio::test]
async fn events_are_set_aside_behind_late_ones_so_that_none_overtakes() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created", "user.updated"]).await;
    let ada = create_user(&app, "Ada").await;
    app.record_webhooks().await;
    rename(&app, &ada, "Ada 2").await;
    record_refused(&app, &created).await;
    rename(&app, &ada, "Ada 3").await;
    app.record_webhooks().await;
    assert_eq!((keys(&app, "QUEUE#").len(), keys(&app, "LATE#").len()), (1, 2), "the table accepts writes, but one event is late");
    app.deliver_webhooks().await;
    assert_eq!(names(&receiver), ["Ada", "Ada 2", "Ada 3"]);
}

/// A service with a single event, which is late and reports the creation of Ada. Also returns the
/// receiver of the endpoint, and the batch that contains the event. The batch was read again. The
/// second read has set the event aside in the same partition.
async fn with_late_event() -> (TestApp, Receiver, Batch) {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    app.record_webhooks().await;
    create_user(&app, "Ada").await;
    let batch = app.changes().await.unwrap();
    record_refused(&app, &created).await;
    let late = keys(&app, "LATE#");
    workers::webhooks::record(&app.app, &batch.event).await.unwrap();
    assert_eq!((late.len(), keys(&app, "LATE#")), (1, late));
    (app, receiver, batch)
}

#[tokio::test]
async fn a_batch_that_is_read_again_delivers_its_late_events_once() {
    let (app, receiver, batch) = with_late_event().await;
    app.deliver_webhooks().await;
    workers::webhooks::record(&app.app, &batch.event).await.unwrap();
    app.deliver_webhooks().await;
    assert_eq!(receiver.received().iter().map(ReceivedRequest::event_type).collect::<Vec<_>>(), ["user.created"]);
}

/// Removes all late events from the table, and returns them in order.
fn take_late(app: &TestApp) -> Vec<Value> {
    let mut late = keys(app, "LATE#");
    late.sort_by(|one, other| one.1.cmp(&other.1));
    late.iter().map(|key| take(app, key)).collect()
}

fn put(database: &Database, mut item: Value, partition: &str) {
    item["pk"] = json!({ "S": partition });
    let put = json!({ "TableName": TABLE, "Item": item });
    database.put_item(serde_json::from_value(put).unwrap()).unwrap();
}

/// The shard in the key of a partition for late deliveries.
fn shard(partition: &str) -> usize {
    partition.rsplit_once("#LATE#").unwrap().1.parse().unwrap()
}

#[tokio::test]
async fn late_events_that_one_partition_refuses_are_taken_by_the_next() {
    let (app, receiver, batch) = with_late_event().await;
    let [(first, _)] = keys(&app, "LATE#").try_into().unwrap();
    Box::pin(while_refused(&app, &first, workers::webhooks::record(&app.app, &batch.event))).await.unwrap();
    let mut shards: Vec<usize> = keys(&app, "LATE#").iter().map(|(partition, _)| shard(partition)).collect();
    shards.retain(|other| *other != shard(&first));
    assert_eq!(shards, [(shard(&first) + 1) % 8]);
    app.deliver_webhooks().await;
    assert_eq!((names(&receiver), keys(&app, "LATE#")), (vec!["Ada".to_owned()], vec![]), "both copies are moved, and one is delivered");
}

#[tokio::test]
async fn late_events_are_spread_and_follow_in_order() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created", "user.updated"]).await;
    let ada = create_user(&app, "0").await;
    record_refused(&app, &created).await;
    for number in 1..80 {
        rename(&app, &ada, &number.to_string()).await;
        app.record_webhooks().await;
    }
    let mut partitions: Vec<String> = keys(&app, "LATE#").into_iter().map(|(partition, _)| partition).collect();
    assert_eq!(partitions.len(), 80);
    partitions.dedup();
    assert!((5..=8).contains(&partitions.len()), "{partitions:?}");
    app.deliver_webhooks().await;
    assert_eq!(names(&receiver), (0..80).map(|number| number.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn no_late_event_overtakes_one_that_is_behind_a_page_of_its_partition() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created", "user.updated"]).await;
    create_user(&app, "0").await;
    record_refused(&app, &created).await;
    for number in 1..4 {
        create_user(&app, &number.to_string()).await;
        app.record_webhooks().await;
    }
    let ada = create_user(&app, "Ada").await;
    app.record_webhooks().await;
    rename(&app, &ada, "Ada 2").await;
    app.record_webhooks().await;
    let partition = partition(&app, &created);
    for (item, shard) in take_late(&app).into_iter().zip([0, 0, 0, 0, 0, 7]) {
        put(&app.database(), item, &format!("{partition}#LATE#{shard}"));
    }
    app.deliver_webhooks().await;
    assert_eq!((names(&receiver).len(), &names(&receiver)[4..]), (6, &["Ada".to_owned(), "Ada 2".to_owned()][..]));
}

/// Runs an action right after the worker's first or second read of the first partition of late
/// deliveries, before the worker reads the other partitions.
fn after_reading(recorder: &Arc<Recorder>, is_second: bool, action: impl FnOnce() + Send + 'static) {
    let first = |recorder: &Recorder, action: Box<dyn FnOnce() + Send>| recorder.after_call("Query", "#LATE#0\"".to_owned(), action);
    if !is_second {
        return first(recorder, Box::new(action));
    }
    let later = Arc::clone(recorder);
    recorder.after_call("Query", "#LATE#7\"".to_owned(), move || first(&later, Box::new(action)));
}

#[tokio::test]
async fn no_late_event_overtakes_one_stored_where_the_worker_had_already_read() {
    for is_second in [false, true] {
        let (app, receiver) = (TestApp::start().await, Receiver::start().await);
        let created = endpoint_at(&app, &receiver, &["user.created", "user.updated"]).await;
        let ada = create_user(&app, "Ada").await;
        app.record_webhooks().await;
        app.deliver_webhooks().await;
        rename(&app, &ada, "Ada 2").await;
        record_refused(&app, &created).await;
        rename(&app, &ada, "Ada 3").await;
        app.record_webhooks().await;
        let items = take_late(&app);
        assert_eq!(items.len(), 2);
        let (database, partition) = (app.database(), partition(&app, &created));
        after_reading(&app.recorder, is_second, move || {
            for (item, shard) in items.into_iter().zip([0, 7]) {
                put(&database, item, &format!("{partition}#LATE#{shard}"));
            }
        });
        app.deliver_webhooks().await;
        assert!(app.recorder.has_acted());
        assert_eq!(names(&receiver), ["Ada", "Ada 2", "Ada 3"], "{is_second}");
        assert!(keys(&app, "LATE#").is_empty());
    }
}

#[tokio::test]
async fn what_is_set_aside_while_late_events_are_moved_is_not_forgotten() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    create_user(&app, "Ada").await;
    record_refused(&app, &created).await;
    create_user(&app, "Bob").await;
    app.record_webhooks().await;
    let [_, second] = keys(&app, "LATE#").try_into().unwrap();
    let (partition, item, database) = (second.0.clone(), take(&app, &second), app.database());
    // More events are set aside after the worker has moved the events that it read. The endpoint is
    // also marked again.
    let endpoint =
        json!({ "pk": { "S": format!("P#{}", app.project_id()) }, "sk": { "S": format!("WEBHOOK#{}", created["id"].as_str().unwrap()) } });
    app.recorder.after_call("DeleteItem", "#LATE#".to_owned(), move || {
        put(&database, item, &partition);
        let mark = json!({ "TableName": TABLE, "Key": endpoint, "UpdateExpression": "SET late = :late", "ExpressionAttributeValues": { ":late": { "S": "anew" } } });
        database.update_item(serde_json::from_value(mark).unwrap()).unwrap();
    });
    app.deliver_webhooks().await;
    assert!(app.recorder.has_acted());
    let mut received = names(&receiver);
    received.sort();
    assert_eq!(received, ["Ada", "Bob"]);
    assert!(app.app.store.due_webhooks(app.now(), 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn nothing_stays_aside_for_an_endpoint_that_is_deleted_meanwhile() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    app.record_webhooks().await;
    create_user(&app, "Ada").await;
    let database = app.database();
    let (pk, sk) = (format!("P#{}", app.project_id()), format!("WEBHOOK#{}", created["id"].as_str().unwrap()));
    let delete = json!({ "TableName": TABLE, "Key": { "pk": { "S": pk }, "sk": { "S": sk } } });
    // The worker has read the endpoint, but the endpoint no longer exists when its events are set
    // aside.
    app.recorder.after_call("Query", "WEBHOOK#".to_owned(), move || {
        database.delete_item(serde_json::from_value(delete).unwrap()).unwrap();
    });
    record_refused(&app, &created).await;
    assert!(app.recorder.has_acted());
    assert_eq!(keys(&app, ""), []);
}

#[tokio::test]
async fn late_events_of_a_deleted_endpoint_are_deleted() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint(&app, json!({ "url": receiver.url, "event_types": ["user.created"] })).await;
    create_user(&app, "Ada").await;
    record_refused(&app, &created).await;
    create_user(&app, "Bob").await;
    let batch = app.changes().await.unwrap();
    assert_eq!(keys(&app, "LATE#").len(), 1);
    assert_eq!(app.admin().delete(&path(&created, "")).await.status(), 200);
    app.record_batch(batch).await;
    app.deliver_webhooks().await;
    assert_eq!(keys(&app, ""), []);
    assert!(receiver.received().is_empty());
}

#[tokio::test]
async fn an_endpoint_is_not_due_forever_if_what_was_set_aside_is_gone() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    create_user(&app, "Ada").await;
    record_refused(&app, &created).await;
    // For example, deleting a project removes late events before it removes the endpoint.
    for key in keys(&app, "") {
        take(&app, &key);
    }
    let lane = app.app.store.due_webhooks(app.now(), 10).await.unwrap().remove(0);
    let claimed = app.app.store.claim_webhook(&lane, app.now()).await.unwrap().unwrap();
    app.app.store.release_webhook(&claimed, None, app.now()).await.unwrap();
    let state = app.table().into_iter().find(|((_, sk), _)| sk == "STATE").unwrap().1;
    assert!(state.get("gsi2pk").is_none(), "{state:?}");
    app.deliver_webhooks().await;
    assert!(app.app.store.due_webhooks(app.now(), 10).await.unwrap().is_empty());
    assert!(receiver.received().is_empty());
}
