//! How deliveries are recorded, sent and listed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use flows::App;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use support::receiver::{Receiver, Reply};
use support::until::until;
use support::{InjectedError, TestApp};
use wire::clock::Clock;
use workers::webhooks::Courier;

use super::{ENDPOINTS, create_user, deliveries, endpoint_at, path};

#[tokio::test]
async fn a_batch_that_is_read_twice_makes_one_delivery() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    let names: Vec<String> = (0..60).map(|number| number.to_string()).collect();
    for name in &names {
        create_user(&app, name).await;
    }
    // The responses to all writes after the first `after` writes are lost. The batch fails and is
    // read again.
    let batch = app.changes().await.unwrap();
    for after in [0, 1] {
        app.recorder.break_writes(after, 40, InjectedError::AnswerLost);
        // The clock is paused, so the waits between attempts take no time.
        tokio::time::pause();
        assert!(workers::webhooks::record(&app.app, &batch.event).await.is_err(), "{after}");
        tokio::time::resume();
    }
    app.recorder.clear();
    app.deliver_webhooks().await;
    let ids: BTreeSet<String> = receiver.received().iter().map(|it| it.header("webhook-id").to_owned()).collect();
    assert_eq!((receiver.received().len(), ids.len(), deliveries(&app, &created).await.len()), (60, 60, 60));
}

#[tokio::test]
async fn an_endpoint_gets_at_most_eight_requests_at_a_time() {
    let app = TestApp::start().await;
    let receiver = Receiver::answering(vec![Reply::Held(204)]).await;
    endpoint_at(&app, &receiver, &["user.created"]).await;
    for number in 0..40 {
        create_user(&app, &number.to_string()).await;
    }
    assert_eq!(app.record_webhooks().await, 40);
    // Two workers together do not send more concurrent requests than one worker.
    let mut couriers = [Courier::default(), Courier::default()];
    let [first, second] = couriers.each_mut().map(|courier| courier.drain(&app.app, Timestamp::MAX));
    // The endpoint gets a second request only after it has responded to the first.
    let answers = async {
        for held in [1, 7, 8, 8, 8, 8] {
            receiver.release_when(held).await;
        }
    };
    let (first, second, ()) = tokio::join!(first, second, answers);
    assert!(first.is_ok() && second.is_ok());
    assert_eq!((receiver.received().len(), receiver.max_at_once()), (40, 8));
}

#[tokio::test]
async fn an_endpoint_that_does_not_work_gets_one_request_at_a_time() {
    let app = TestApp::start().await;
    let receiver = Receiver::answering(vec![Reply::Held(500)]).await;
    endpoint_at(&app, &receiver, &["user.created"]).await;
    for number in 0..40 {
        create_user(&app, &number.to_string()).await;
    }
    let answers = async |requests: &[usize]| {
        for held in requests {
            receiver.release_when(*held).await;
        }
    };
    tokio::join!(app.deliver_webhooks(), answers(&[1; 40]));
    assert_eq!((receiver.received().len(), receiver.max_at_once()), (40, 1));
    receiver.reply(Reply::Held(204));
    app.advance(SignedDuration::from_secs(10));
    let answers = async {
        answers(&[1, 7, 8]).await;
        receiver.reply(Reply::Status(204));
        receiver.release();
    };
    tokio::join!(app.deliver_webhooks(), answers);
    assert_eq!((receiver.received().len(), receiver.max_at_once()), (80, 8), "it works again");
}

#[tokio::test]
async fn a_task_that_panics_ends_only_the_work_on_its_endpoint() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    for _ in 0..2 {
        endpoint_at(&app, &receiver, &["user.created"]).await;
    }
    create_user(&app, "Ada").await;
    assert_eq!(app.record_webhooks().await, 2);
    // The first task makes the second read of the clock, and therefore panics.
    let (reads, now) = (AtomicUsize::new(0), app.now());
    let clock = Clock::new(move || {
        assert_ne!(reads.fetch_add(1, Ordering::SeqCst), 1, "a panic made by a test");
        now
    });
    let faulty = App::new(app.app.settings.clone(), app.app.store.clone(), clock, app.app.entropy.clone(), app.app.hasher.clone());
    let mut courier = Courier::default();
    assert_eq!(courier.begin(&faulty, Timestamp::MAX).await.unwrap(), 2);
    assert!(courier.ended().await);
    assert!(courier.ended().await, "the work on the other endpoint goes on");
    assert!(!courier.ended().await);
    assert_eq!(receiver.received().len(), 1);
    assert_eq!(courier.begin(&faulty, Timestamp::MAX).await.unwrap(), 1, "the first endpoint is due, and can be worked on again");
}

#[tokio::test]
async fn an_endpoint_gives_its_place_up_while_another_one_waits() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    endpoint_at(&app, &receiver, &["user.created"]).await;
    endpoint_at(&app, &receiver, &["team.created"]).await;
    for number in 0..70 {
        create_user(&app, &number.to_string()).await;
    }
    app.record_webhooks().await;
    app.advance(SignedDuration::from_millis(1));
    assert_eq!(app.server().post("/api/v1/teams", json!({ "display_name": "Crew" })).await.status(), 201);
    app.record_webhooks().await;
    app.advance(SignedDuration::from_millis(1));
    let mut courier = Courier::with_places(1);
    courier.drain(&app.app, Timestamp::MAX).await.unwrap();
    let types = receiver.types();
    assert_eq!(types.len(), 71);
    // A pass contains up to 32 deliveries, or fewer on a slow machine.
    let position = types.iter().position(|it| it == "team.created").unwrap();
    assert!((1..=32).contains(&position), "{position}");
}

#[tokio::test]
async fn a_slow_endpoint_begins_no_more_requests_while_another_one_waits() {
    let app = TestApp::start().await;
    let (slow, waiting) = (Receiver::start().await, Receiver::start().await);
    endpoint_at(&app, &slow, &["user.created"]).await;
    create_user(&app, "First").await;
    app.deliver_webhooks().await;
    slow.reply(Reply::Held(204));
    endpoint_at(&app, &waiting, &["team.created"]).await;
    for number in 0..20 {
        create_user(&app, &number.to_string()).await;
    }
    app.record_webhooks().await;
    app.advance(SignedDuration::from_millis(1));
    assert_eq!(app.server().post("/api/v1/teams", json!({ "display_name": "Crew" })).await.status(), 201);
    app.record_webhooks().await;
    // The slow endpoint becomes due again after the other endpoint.
    app.advance(SignedDuration::from_millis(1));
    let mut courier = Courier::with_places(1);
    assert_eq!(courier.begin(&app.app, Timestamp::MAX).await.unwrap(), 1);
    until("the requests arrive", || slow.held() == 8).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_millis(1100)).await;
    tokio::time::resume();
    slow.release();
    assert!(courier.ended().await);
    assert_eq!((slow.received().len(), waiting.received().len()), (9, 0), "the slow endpoint ends with its first requests");
    app.advance(SignedDuration::from_millis(1));
    courier.begin(&app.app, Timestamp::MAX).await.unwrap();
    assert!(courier.ended().await);
    assert_eq!((slow.received().len(), waiting.received().len()), (9, 1), "the other one is next");
    slow.reply(Reply::Status(204));
    courier.drain(&app.app, Timestamp::MAX).await.unwrap();
    assert_eq!(slow.received().len(), 21);
}

#[tokio::test]
async fn a_free_place_goes_to_the_project_with_the_fewest() {
    let app = TestApp::start().await;
    let (many, other) = (Receiver::start().await, Receiver::start().await);
    for _ in 0..3 {
        endpoint_at(&app, &many, &["user.created"]).await;
    }
    create_user(&app, "Ada").await;
    app.record_webhooks().await;
    app.advance(SignedDuration::from_millis(1));
    let keys = app.another_project().await;
    let body = json!({ "url": other.url, "event_types": ["user.created"] });
    assert_eq!(app.admin_of(&keys).post(ENDPOINTS, body).await.status(), 201);
    assert_eq!(app.server_of(&keys).post("/api/v1/users", json!({})).await.status(), 201);
    app.record_webhooks().await;
    let mut courier = Courier::with_places(2);
    assert_eq!(courier.begin(&app.app, Timestamp::MAX).await.unwrap(), 2);
    while courier.ended().await {}
    assert_eq!((many.received().len(), other.received().len()), (1, 1));
    courier.drain(&app.app, Timestamp::MAX).await.unwrap();
    assert_eq!((many.received().len(), other.received().len()), (3, 1));
}

#[tokio::test]
async fn deliveries_are_listed_by_status_and_type_in_pages() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created", "team.created"]).await;
    for number in 0..7 {
        create_user(&app, &number.to_string()).await;
    }
    app.deliver_webhooks().await;
    receiver.reply(Reply::Status(500));
    create_user(&app, "Ada").await;
    app.deliver_webhooks().await;
    let list = async |query: &str| app.admin().get(&path(&created, &format!("/deliveries?{query}"))).await.json();
    let pending = list("status=pending&event_type=user.created").await;
    assert_eq!(pending["items"].as_array().unwrap().len(), 1);
    assert_eq!(pending["items"][0]["payload"]["data"]["display_name"], "Ada");
    assert_eq!(list("status=failed").await["items"], json!([]));
    assert_eq!(list("event_type=user.deleted").await["items"], json!([]));
    let (mut seen, mut cursor, mut pages) = (BTreeSet::new(), String::new(), 0);
    loop {
        let page = list(&format!("limit=3&event_type=user.created{cursor}")).await;
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 3);
        seen.extend(items.iter().map(|item| item["id"].as_str().unwrap().to_owned()));
        pages += 1;
        match page["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!((seen.len(), pages), (8, 3));
    for query in ["status=unknown", "event_type=unknown", "limit=0", "limit=101", "other=1"] {
        assert_eq!(list(query).await["code"], "SCHEMA_ERROR", "{query}");
    }
}

#[tokio::test]
async fn a_receiver_accepts_what_was_sent_and_nothing_else() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    // The library compares the time of a message with this machine's clock.
    app.advance(wire::clock::Clock::system().now().duration_since(app.now()));
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    create_user(&app, "Ada").await;
    app.deliver_webhooks().await;
    let (received, secret) = (receiver.received().remove(0), created["secret"].as_str().unwrap());
    assert!(received.is_accepted_with(secret));
    let mut forged = received.clone();
    forged.body = forged.body.replace("Ada", "Eve");
    assert!(!forged.is_accepted_with(secret));
    let other = endpoint_at(&app, &receiver, &[]).await;
    assert!(!received.is_accepted_with(other["secret"].as_str().unwrap()));
}

#[tokio::test]
async fn a_test_reaches_one_endpoint_and_tells_what_happened() {
    let (app, receiver, other) = (TestApp::start().await, Receiver::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    endpoint_at(&app, &other, &[]).await;
    app.deliver_webhooks().await;
    let before = other.received().len();
    let test = async || app.admin().post("/api/v1/internal/send-test-webhook", json!({ "endpoint_id": created["id"] })).await.json();
    assert_eq!(test().await, json!({ "success": true }));
    let received = &receiver.received()[0];
    assert_eq!((received.event_type().as_str(), other.received().len()), ("endpoint.test", before));
    assert_eq!(received.json()["data"]["endpointUrl"], receiver.url);
    assert!(received.is_signed_with(created["secret"].as_str().unwrap()));
    receiver.reply(Reply::Status(404));
    assert_eq!(test().await, json!({ "success": false, "error_message": "the endpoint answered with status 404" }));
    let listed = deliveries(&app, &created).await;
    assert_eq!(listed.iter().map(|it| it["status"].as_str().unwrap()).collect::<BTreeSet<_>>(), BTreeSet::from(["succeeded", "failed"]));
    app.advance(SignedDuration::from_hours(30));
    app.deliver_webhooks().await;
    assert_eq!(receiver.received().len(), 2, "a test is not repeated");
    for id in ["6b0f6c3d-1c2e-4f5a-9b8c-7d6e5f403122", "x"] {
        let unknown = app.admin().post("/api/v1/internal/send-test-webhook", json!({ "endpoint_id": id })).await;
        assert_eq!((unknown.status(), &unknown.json()["success"]), (200, &json!(false)), "{id}");
    }
}
