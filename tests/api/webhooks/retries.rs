//! How deliveries are retried, and when endpoints are disabled.

use gateway::engine::Batch;
use jiff::SignedDuration;
use model::webhook::{DisabledReason, Endpoint};
use serde_json::json;
use support::TestApp;
use support::receiver::{ReceivedRequest, Receiver, Reply};

use wire::id::{ProjectId, WebhookEndpointId};

use super::{create_user, deliveries, endpoint_at, path};
use crate::owners::Owner;

#[tokio::test]
async fn a_failed_delivery_is_tried_again_with_the_same_id() {
    let (app, receiver) =
        (TestApp::start().await, Receiver::answering(vec![Reply::Text(500, "down".to_owned()), Reply::Status(204)]).await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    create_user(&app, "Ada").await;
    app.deliver_webhooks().await;
    app.advance(SignedDuration::from_secs(4));
    app.deliver_webhooks().await;
    assert_eq!(receiver.received().len(), 1, "a retry waits for five seconds");
    let pending = &deliveries(&app, &created).await[0];
    assert_eq!((&pending["status"], &pending["attempts"][0]["response_body"]), (&json!("pending"), &json!("down")));
    assert!(pending["next_attempt_at_millis"].as_i64().unwrap() > app.now().as_millisecond());
    app.advance(SignedDuration::from_secs(3));
    app.deliver_webhooks().await;
    let received = receiver.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].header("webhook-id"), received[1].header("webhook-id"));
    assert_eq!(received[0].body, received[1].body);
    assert_ne!(received[0].header("webhook-timestamp"), received[1].header("webhook-timestamp"));
    let ended = &deliveries(&app, &created).await[0];
    assert_eq!((&ended["status"], &ended["next_attempt_at_millis"]), (&json!("succeeded"), &json!(null)));
    let statuses: Vec<_> = ended["attempts"].as_array().unwrap().iter().map(|attempt| attempt["response_status"].clone()).collect();
    assert_eq!(statuses, [500, 204]);
}

#[tokio::test]
async fn later_events_of_an_object_wait_for_the_first() {
    let (app, receiver) = (TestApp::start().await, Receiver::answering(vec![Reply::Status(500)]).await);
    endpoint_at(&app, &receiver, &["user.created", "user.updated", "user.deleted"]).await;
    let (ada, _) = (create_user(&app, "Ada").await, create_user(&app, "Bob").await);
    let user = format!("/api/v1/users/{}", ada["id"].as_str().unwrap());
    app.server().patch(&user, json!({ "display_name": "Ada L." })).await;
    app.server().delete(&user).await;
    app.deliver_webhooks().await;
    assert_eq!(receiver.types(), ["user.created", "user.created"], "nothing overtakes the event that failed");
    receiver.reply(Reply::Status(204));
    app.advance(SignedDuration::from_secs(10));
    app.deliver_webhooks().await;
    let of_ada: Vec<_> =
        receiver.received()[2..].iter().filter(|event| event.json()["data"]["id"] == ada["id"]).map(ReceivedRequest::event_type).collect();
    assert_eq!(of_ada, ["user.created", "user.updated", "user.deleted"]);
}

#[tokio::test]
async fn after_eight_attempts_a_delivery_has_failed_and_can_be_replayed() {
    let (app, receiver) = (TestApp::start().await, Receiver::answering(vec![Reply::Status(503)]).await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    create_user(&app, "Ada").await;
    for _ in 0..10 {
        app.deliver_webhooks().await;
        app.advance(SignedDuration::from_hours(13));
    }
    assert_eq!(receiver.received().len(), 8);
    let failed = deliveries(&app, &created).await.remove(0);
    assert_eq!((&failed["status"], failed["attempts"].as_array().unwrap().len()), (&json!("failed"), 8));
    receiver.reply(Reply::Status(200));
    let replay = path(&created, &format!("/deliveries/{}/replay", failed["id"].as_str().unwrap()));
    let replayed = app.admin().post(&replay, json!({})).await;
    assert_eq!((replayed.status(), &replayed.json()["message_id"]), (200, &failed["message_id"]));
    app.deliver_webhooks().await;
    let received = receiver.received();
    assert_eq!((received.len(), received[8].header("webhook-id")), (9, received[0].header("webhook-id")));
    let all = app.admin().post(&path(&created, "/replay-failed"), json!({ "since_millis": 0 })).await;
    assert_eq!(all.json(), json!({ "count": 0, "next_since_millis": null }), "it has been replayed already");
    let again = app.admin().post(&replay, json!({})).await;
    assert_eq!((again.status(), &again.json()["replayed_at_millis"]), (200, &json!(null)));
    app.deliver_webhooks().await;
    assert_eq!(receiver.received().len(), 10);
}

/// Changes whose events have not been recorded yet. The changes look as if they had been made in
/// this second.
async fn changes_at(app: &TestApp, second: i64) -> Batch {
    let mut batch = app.changes().await.unwrap();
    for record in batch.event["Records"].as_array_mut().unwrap() {
        record["dynamodb"]["ApproximateCreationDateTime"] = json!(second);
    }
    batch
}

#[tokio::test]
async fn an_endpoint_that_is_gone_is_switched_off() {
    let (app, receiver) = (TestApp::start().await, Receiver::answering(vec![Reply::Status(410)]).await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    create_user(&app, "Ada").await;
    app.deliver_webhooks().await;
    let off = app.admin().get(&path(&created, "")).await.json();
    assert_eq!((&off["enabled"], &off["disabled_reason"]), (&json!(false), &json!("gone")));
    assert_eq!(off["last_delivery"]["response_status"], 410);
    create_user(&app, "Bob").await;
    app.advance(SignedDuration::from_hours(1));
    app.deliver_webhooks().await;
    assert_eq!(receiver.received().len(), 1);
    // Events that were pending when the endpoint was disabled are delivered once it is enabled
    // again. Events that were caused while the endpoint was disabled are not delivered.
    receiver.reply(Reply::Status(204));
    assert_eq!(app.admin().patch(&path(&created, ""), json!({ "enabled": true })).await.json()["disabled_reason"], json!(null));
    app.deliver_webhooks().await;
    assert_eq!(receiver.received().len(), 2);
}

#[tokio::test]
async fn five_days_of_failures_switch_an_endpoint_off_and_tell_the_owners() {
    let (app, receiver) = (TestApp::start().await, Receiver::answering(vec![Reply::Status(500)]).await);
    let internal = app.internal_project().await;
    let owner = Owner::sign_up(&app, &internal, "owner@example.com").await;
    let user = format!("/api/v1/users/{}", owner.user.user_id);
    assert_eq!(app.server_of(&internal).patch(&user, json!({ "primary_email_verified": true })).await.status(), 200);
    let project = owner.project("Shop").await;
    // An owner's access token would expire within the five days of the test. The endpoint is
    // therefore in a project that has keys and belongs to the owner's team.
    let row = app.app.store.project(&ProjectId::parse(&project).unwrap()).await.unwrap().unwrap();
    let keys = app.another_project().await;
    let mut moved = app.app.store.project(&keys.project_id).await.unwrap().unwrap();
    moved.project.owner_team_id.clone_from(&row.project.owner_team_id);
    app.app.store.update_project(&moved.project, moved.version, None).await.unwrap();
    let admin = app.admin_of(&keys);
    let created = admin.post(super::ENDPOINTS, json!({ "url": receiver.url, "event_types": ["user.created"] })).await.json();
    for day in 0..7 {
        for _ in 0..2 {
            app.server_of(&keys).post("/api/v1/users", json!({ "display_name": format!("{day}") })).await;
            app.deliver_webhooks().await;
            app.advance(SignedDuration::from_hours(12));
        }
    }
    let off = admin.get(&path(&created, "")).await.json();
    assert_eq!((&off["enabled"], &off["disabled_reason"]), (&json!(false), &json!("failing")));
    let mails = app.mails("owner@example.com").await;
    let told = mails.iter().filter(|mail| mail.0.subject.starts_with("Webhooks of")).count();
    assert_eq!(told, 1);
}

#[tokio::test]
async fn an_endpoint_that_was_switched_off_by_hand_stays_off() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    let off = app.admin().patch(&path(&created, ""), json!({ "enabled": false })).await.json();
    assert_eq!((&off["enabled"], &off["disabled_reason"]), (&json!(false), &json!("manual")));
    create_user(&app, "Ada").await;
    app.deliver_webhooks().await;
    assert!(receiver.received().is_empty());
}

#[tokio::test]
async fn what_happened_before_an_endpoint_was_switched_off_is_delivered_afterwards() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    app.record_webhooks().await;
    create_user(&app, "Before").await;
    let before = changes_at(&app, app.now().as_second()).await;
    assert_eq!(app.admin().patch(&path(&created, ""), json!({ "enabled": false })).await.status(), 200);
    assert_eq!(app.record_batch(before).await, 1, "the change was read late");
    app.deliver_webhooks().await;
    assert!(receiver.received().is_empty());
    app.advance(SignedDuration::from_secs(5));
    create_user(&app, "After").await;
    // Disabling the endpoint again does not change the time when it was disabled.
    assert_eq!(app.admin().patch(&path(&created, ""), json!({ "enabled": false })).await.status(), 200);
    assert_eq!(app.record_batch(changes_at(&app, app.now().as_second()).await).await, 0);
    assert_eq!(app.admin().patch(&path(&created, ""), json!({ "enabled": true })).await.status(), 200);
    app.deliver_webhooks().await;
    let names: Vec<_> = receiver.received().iter().map(|event| event.json()["data"]["display_name"].clone()).collect();
    assert_eq!(names, ["Before"]);
}

#[tokio::test]
async fn an_endpoint_that_an_older_version_switched_off_stays_off() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    app.record_webhooks().await;
    let (store, id) = (&app.app.store, WebhookEndpointId::parse(created["id"].as_str().unwrap()).unwrap());
    let row = store.webhook_endpoint(app.project_id(), id).await.unwrap().unwrap();
    let off = Endpoint { disabled: Some(DisabledReason::Gone), disabled_at: None, ..row.endpoint.clone() };
    store.replace_webhook_endpoint(app.project_id(), &row, &off, Vec::new()).await.unwrap();
    create_user(&app, "Ada").await;
    assert_eq!(app.record_batch(changes_at(&app, app.now().as_second() - 60).await).await, 0);
    let read = app.admin().get(&path(&created, "")).await.json();
    assert_eq!((&read["enabled"], &read["disabled_reason"]), (&json!(false), &json!("gone")));
}
