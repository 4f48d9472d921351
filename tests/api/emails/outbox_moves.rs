//! `PATCH /api/v1/emails/outbox/{id}`, with tests about the transitions of the seven editable
//! states.

use model::outbox::status::Status;
use serde_json::{Value, json};
use support::TestApp;

use super::{HOUR, entry_in, path, read, with_entry};

const EDITABLE: [Status; 7] =
    [Status::Paused, Status::Preparing, Status::Rendering, Status::RenderError, Status::Scheduled, Status::Queued, Status::ServerError];

/// Updates an entry in each editable state, and asserts the new state.
async fn moves(patch: impl Fn(&TestApp) -> Value, expected: fn(Status) -> &'static str) {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for status in EDITABLE {
        let id = entry_in(&app, &ada, status).await;
        let answer = app.server().patch(&path(&id), patch(&app)).await;
        assert_eq!(answer.status(), 200, "{status:?} {}", answer.text());
        assert_eq!(answer.json()["status"], expected(status), "{status:?}");
        assert_eq!(read(&app, &id).await, answer.json(), "{status:?}");
    }
}

#[tokio::test]
async fn an_empty_body_only_touches_the_entry() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for status in EDITABLE {
        let id = entry_in(&app, &ada, status).await;
        let mut before = read(&app, &id).await;
        app.advance(jiff::SignedDuration::from_millis(5));
        let answer = app.server().patch(&path(&id), json!({})).await;
        assert_eq!(answer.status(), 200, "{status:?} {}", answer.text());
        before["updated_at_millis"] = json!(app.now().as_millisecond());
        assert_eq!(answer.json(), before, "{status:?}");
    }
}

#[tokio::test]
async fn changed_content_is_prepared_again() {
    moves(|_| json!({ "subject_source": "New" }), |status| if status == Status::Paused { "paused" } else { "preparing" }).await;
}

#[tokio::test]
async fn every_editable_entry_can_be_paused() {
    moves(|_| json!({ "is_paused": true }), |_| "paused").await;
}

#[tokio::test]
async fn a_resumed_entry_returns_to_its_state() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for status in EDITABLE {
        let id = entry_in(&app, &ada, status).await;
        app.server().patch(&path(&id), json!({ "is_paused": true })).await;
        let answer = app.server().patch(&path(&id), json!({ "is_paused": false })).await;
        let expected = match status {
            // A worker processes an entry in these states from the start.
            Status::Paused | Status::Rendering => "preparing",
            Status::Queued => "scheduled",
            status => status.name(),
        };
        assert_eq!(answer.json()["status"], expected, "{status:?}");
    }
}

#[tokio::test]
async fn every_editable_entry_can_be_cancelled_permanently() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for status in EDITABLE {
        let id = entry_in(&app, &ada, status).await;
        let before = read(&app, &id).await;
        // A patch that cancels the email ignores its other fields.
        let answer = app.server().patch(&path(&id), json!({ "cancel": true, "subject_source": "x", "is_paused": true })).await;
        assert_eq!(answer.status(), 200, "{status:?} {}", answer.text());
        let entry = answer.json();
        assert_eq!((&entry["status"], &entry["simple_status"]), (&json!("skipped"), &json!("ok")), "{status:?}");
        assert_eq!((&entry["skipped_reason"], &entry["skipped_details"]), (&json!("MANUALLY_CANCELLED"), &json!({})), "{status:?}");
        assert_eq!((&entry["is_paused"], &entry["subject_source"]), (&json!(false), &before["subject_source"]), "{status:?}");
        assert_eq!(entry["skipped_at_millis"], json!(app.now().as_millisecond()), "{status:?}");
        assert_eq!(entry["next_send_retry_at_millis"], Value::Null, "{status:?}");
        let again = app.server().patch(&path(&id), json!({ "cancel": true })).await;
        assert_eq!(again.json()["details"]["status"], "SKIPPED", "{status:?}");
    }
    app.advance(jiff::SignedDuration::from_hours(2));
    assert!(app.mails(&ada.email).await.is_empty());
}

#[tokio::test]
async fn a_cancelled_entry_keeps_its_history() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for (status, moments) in [
        (Status::Rendering, &["started_rendering_at_millis"][..]),
        (Status::RenderError, &["started_rendering_at_millis"]),
        (Status::Queued, &["started_rendering_at_millis", "rendered_at_millis"]),
        (Status::ServerError, &["started_rendering_at_millis", "rendered_at_millis", "started_sending_at_millis"]),
    ] {
        let id = entry_in(&app, &ada, status).await;
        let entry = app.server().patch(&path(&id), json!({ "cancel": true })).await.json();
        for moment in moments {
            assert!(entry[moment].is_i64(), "{moment} of {status:?} in {entry}");
        }
        assert_eq!(entry["has_rendered"], json!(moments.len() > 1), "{status:?}");
    }
}

#[tokio::test]
async fn a_rescheduled_entry_leaves_the_queue() {
    moves(
        |app| json!({ "scheduled_at_millis": app.now().as_millisecond() + HOUR }),
        |status| match status {
            Status::Rendering => "preparing",
            Status::Queued => "scheduled",
            // Rescheduling an email does not remove its failure.
            status => status.name(),
        },
    )
    .await;
}

#[tokio::test]
async fn an_edited_and_resumed_entry_is_sent_once_from_any_state() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for status in EDITABLE {
        let id = entry_in(&app, &ada, status).await;
        let patch = json!({ "subject_source": status.name(), "html_source": "<p>x</p>", "is_paused": false, "scheduled_at_millis": 0 });
        assert_eq!(app.server().patch(&path(&id), patch).await.status(), 200);
    }
    app.advance(jiff::SignedDuration::from_hours(2));
    let mut subjects: Vec<String> = app.mails(&ada.email).await.into_iter().map(|mail| mail.0.subject).collect();
    subjects.sort_unstable();
    let mut expected = EDITABLE.map(Status::name);
    expected.sort_unstable();
    assert_eq!(subjects, expected);
}

#[tokio::test]
async fn a_paused_entry_is_not_sent() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut ids = Vec::new();
    for status in [Status::Paused, Status::Preparing, Status::Rendering, Status::Scheduled, Status::Queued] {
        let id = entry_in(&app, &ada, status).await;
        app.server().patch(&path(&id), json!({ "is_paused": true })).await;
        ids.push(id);
    }
    app.advance(jiff::SignedDuration::from_hours(2));
    assert!(app.mails(&ada.email).await.is_empty());
    for id in &ids {
        app.server().patch(&path(id), json!({ "is_paused": false })).await;
    }
    assert_eq!(app.mails(&ada.email).await.len(), ids.len());
}

#[tokio::test]
async fn changed_content_clears_earlier_failures() {
    let (app, ada, id) = with_entry(Status::ServerError).await;
    assert_eq!(read(&app, &id).await["send_retries"], 1);
    let entry = app.server().patch(&path(&id), json!({ "variables": { "a": 1 } })).await.json();
    assert_eq!((&entry["send_retries"], &entry["send_attempt_errors"]), (&json!(0), &Value::Null));
    assert_eq!(app.mails(&ada.email).await.len(), 1);
}
