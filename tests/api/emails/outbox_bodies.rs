//! The bodies of an email are erased a day after it reaches a final state; the rest of its entry is
//! kept.

use jiff::SignedDuration;
use model::outbox::status::Status;
use serde_json::{Value, json};
use support::TestApp;

use super::{OUTBOX, entry_in, path, read, with_entry};

/// The item that contains the bodies of an email, if it exists.
fn body(app: &TestApp, id: &str) -> Option<Value> {
    app.table().remove(&(format!("M#{}#{id}", app.project_id()), "BODY".to_owned()))
}

async fn listed(app: &TestApp, id: &str) -> Value {
    let list = app.server().get(OUTBOX).await.json();
    list["items"].as_array().unwrap().iter().find(|entry| entry["id"] == id).unwrap().clone()
}

#[tokio::test]
async fn a_day_after_its_end_an_email_loses_only_its_bodies() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for status in [Status::Sent, Status::Bounced, Status::Opened, Status::ServerError] {
        let id = entry_in(&app, &ada, status).await;
        let mut before = read(&app, &id).await;
        assert!(before["html"].as_str().unwrap().contains("Hello") && before["text"].as_str().unwrap().contains("Hello"));
        let kept = body(&app, &id).unwrap();
        let until = (app.now() + SignedDuration::from_hours(24)).as_second();
        assert_eq!(kept["ttl"]["N"], until.to_string(), "{kept}");

        app.advance(SignedDuration::from_hours(24) - SignedDuration::from_millis(1));
        assert_eq!((read(&app, &id).await, listed(&app, &id).await), (before.clone(), before.clone()));
        app.advance(SignedDuration::from_millis(1));
        for field in ["html", "text"] {
            before[field] = Value::Null;
        }
        assert_eq!((read(&app, &id).await, listed(&app, &id).await), (before.clone(), before), "bodies are hidden before their deletion");
    }
}

#[tokio::test]
async fn an_unfinished_email_keeps_its_bodies() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for status in [Status::Scheduled, Status::Queued, Status::Sending] {
        let id = entry_in(&app, &ada, status).await;
        app.advance(SignedDuration::from_hours(48));
        assert_eq!(body(&app, &id), None, "{status:?}");
        assert!(read(&app, &id).await["html"].as_str().unwrap().contains("Hello"), "{status:?}");
    }
}

#[tokio::test]
async fn an_edited_failed_email_is_rerendered_and_kept_for_another_day() {
    let (app, _, id) = with_entry(Status::ServerError).await;
    app.advance(SignedDuration::from_hours(23));
    let edited = app.server().patch(&path(&id), json!({ "html_source": "<p>Again</p>" })).await.json();
    assert_eq!((&edited["status"], &edited["has_rendered"]), (&json!("preparing"), &json!(false)));
    app.deliver().await;
    app.advance(SignedDuration::from_hours(23));
    assert!(read(&app, &id).await["html"].as_str().unwrap().contains("Again"));
    app.advance(SignedDuration::from_hours(1));
    assert_eq!(read(&app, &id).await["html"], Value::Null);
}

#[tokio::test]
async fn a_cancelled_email_keeps_its_bodies_for_a_day() {
    let (app, _, id) = with_entry(Status::Scheduled).await;
    let cancelled = app.server().patch(&path(&id), json!({ "cancel": true })).await.json();
    assert!(cancelled["html"].as_str().unwrap().contains("Hello"), "{cancelled}");
    assert_eq!(read(&app, &id).await, cancelled);
    app.advance(SignedDuration::from_hours(24));
    assert_eq!(read(&app, &id).await["html"], Value::Null);
}

#[tokio::test]
async fn expired_bodies_are_deleted_without_side_effects() {
    let app = TestApp::start().await;
    // `sweep_ttl` compares expiry times with the machine's clock, not the test's, so the test's
    // clock is set back ten years.
    app.advance(SignedDuration::from_hours(-10 * 365 * 24));
    let ada = app.sign_up("ada@example.com").await;
    let (sent, waiting) = (entry_in(&app, &ada, Status::Sent).await, entry_in(&app, &ada, Status::Scheduled).await);
    assert!(body(&app, &sent).is_some());
    app.database().sweep_ttl().unwrap();
    assert!(body(&app, &sent).is_none());
    let entry = read(&app, &sent).await;
    assert_eq!((&entry["html"], &entry["subject"], &entry["status"]), (&Value::Null, &json!("Greetings"), &json!("sent")));
    assert_eq!(listed(&app, &sent).await, entry);
    assert!(read(&app, &waiting).await["html"].is_string());
}

#[tokio::test]
async fn listing_old_emails_reads_no_bodies() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    entry_in(&app, &ada, Status::Sent).await;
    let calls = async || {
        app.recorder.clear();
        assert_eq!(app.server().get(OUTBOX).await.status(), 200);
        app.recorder.calls().len()
    };
    let with_bodies = calls().await;
    app.advance(SignedDuration::from_hours(24));
    assert_eq!(calls().await, with_bodies - 1);
}
