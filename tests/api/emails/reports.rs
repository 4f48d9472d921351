//! The reports of SES about emails, and their effect on entries. The reports are events from
//! EventBridge.

use std::path::Path;

use model::outbox::status::Status;
use serde_json::{Value, json};
use support::{SignedInUser, TestApp};
use workers::reports;

use super::{attempt, entry_in, read, with_entry, work};

/// An event from the repository, changed to report on an attempt to send an entry of this project.
async fn event(app: &TestApp, name: &str, id: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../events/workers/mail-reports-{name}.json"));
    let mut event: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let row = app.app.store.outbox_entry(app.project_id(), id.parse_id()).await.unwrap().unwrap();
    let tags = &mut event["detail"]["mail"]["tags"];
    tags["gatelet-entry"] = json!([id]);
    tags["gatelet-project"] = json!([app.project_id()]);
    tags["gatelet-attempt"] = json!([attempt(&row.entry).to_string()]);
    event
}

trait ParseId {
    fn parse_id(&self) -> wire::id::EmailId;
}

impl ParseId for str {
    fn parse_id(&self) -> wire::id::EmailId {
        wire::id::EmailId::parse(self).unwrap()
    }
}

async fn take(app: &TestApp, event: &Value) -> bool {
    reports::take(&app.app, &reports::read(event).unwrap()).await.unwrap()
}

async fn start() -> (TestApp, SignedInUser) {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    (app, ada)
}

const EVENTS: [(&str, &str); 8] = [
    ("send", "sent"),
    ("delivery-delay", "delivery-delayed"),
    ("delivery", "sent"),
    ("bounce", "bounced"),
    ("reject", "bounced"),
    ("open", "opened"),
    ("click", "clicked"),
    ("complaint", "marked-as-spam"),
];

#[tokio::test]
async fn every_event_changes_the_state_of_a_sent_email_once() {
    let (app, ada) = start().await;
    for (name, status) in EVENTS {
        let id = entry_in(&app, &ada, Status::Sent).await;
        let event = event(&app, name, &id).await;
        assert!(take(&app, &event).await, "{name}");
        let entry = read(&app, &id).await;
        assert_eq!(entry["status"], status, "{name}");
        assert!(!take(&app, &event).await, "{name}");
        assert_eq!(read(&app, &id).await, entry, "{name}");
    }
}

#[tokio::test]
async fn a_reported_state_has_the_time_of_its_report() {
    let (app, ada) = start().await;
    let at = "2026-03-10T12:00:02.456Z".parse::<jiff::Timestamp>().unwrap().as_millisecond();
    for (name, moment) in [
        ("delivery-delay", "delivery_delayed_at_millis"),
        ("delivery", "delivered_at_millis"),
        ("bounce", "bounced_at_millis"),
        ("open", "opened_at_millis"),
        ("click", "clicked_at_millis"),
        ("complaint", "marked_as_spam_at_millis"),
    ] {
        let id = entry_in(&app, &ada, Status::Sent).await;
        let event = event(&app, name, &id).await;
        take(&app, &event).await;
        assert_eq!(read(&app, &id).await[moment], at, "{name}");
    }
}

#[tokio::test]
async fn the_order_of_events_does_not_matter() {
    let (app, ada) = start().await;
    let orders = [["send", "delivery", "open", "click"], ["click", "open", "delivery", "send"], ["delivery", "click", "send", "open"]];
    for order in orders {
        let id = entry_in(&app, &ada, Status::Sent).await;
        for name in order {
            let event = event(&app, name, &id).await;
            take(&app, &event).await;
        }
        assert_eq!(read(&app, &id).await["status"], "clicked", "{order:?}");
    }
    for order in [["delivery-delay", "delivery"], ["delivery", "delivery-delay"]] {
        let id = entry_in(&app, &ada, Status::Sent).await;
        for name in order {
            let event = event(&app, name, &id).await;
            take(&app, &event).await;
        }
        assert_eq!(read(&app, &id).await["status"], "sent", "{order:?}");
    }
}

#[tokio::test]
async fn an_event_may_precede_the_worker_s_own_update() {
    let (app, ada, id) = with_entry(Status::Sending).await;
    let event = event(&app, "bounce", &id).await;
    assert!(take(&app, &event).await);
    assert_eq!(read(&app, &id).await["status"], "bounced");
    // The email counts once as sent and once as bounced.
    let stats = app.server().get("/api/v1/emails/delivery-info").await.json()["stats"]["hour"].clone();
    assert_eq!(stats, json!({ "sent": 1, "bounced": 1, "marked_as_spam": 0 }));
    app.advance(jiff::SignedDuration::from_hours(1));
    assert!(app.mails(&ada.email).await.is_empty());
    assert_eq!(read(&app, &id).await["status"], "bounced");
}

#[tokio::test]
async fn an_email_of_unknown_outcome_becomes_sent_on_a_report() {
    let (app, _, id) = with_entry(Status::Sending).await;
    app.advance(jiff::SignedDuration::from_mins(20));
    app.send_emails().await;
    assert_eq!(read(&app, &id).await["status"], "server-error");
    let event = event(&app, "delivery", &id).await;
    assert!(take(&app, &event).await);
    let entry = read(&app, &id).await;
    assert_eq!((&entry["status"], &entry["can_have_delivery_info"]), (&json!("sent"), &json!(true)));
    assert_eq!(app.server().patch(&super::path(&id), json!({ "subject_source": "again" })).await.code(), "EMAIL_NOT_EDITABLE");
}

#[tokio::test]
async fn a_report_on_an_earlier_attempt_is_ignored() {
    let (app, ada, id) = with_entry(Status::ServerError).await;
    let event = event(&app, "bounce", &id).await;
    app.advance(jiff::SignedDuration::from_secs(1));
    assert_eq!(app.server().patch(&super::path(&id), json!({ "subject_source": "again" })).await.status(), 200);
    assert!(!take(&app, &event).await);
    assert_eq!(app.mails(&ada.email).await.len(), 1);
    assert!(!take(&app, &event).await);
    assert_eq!(read(&app, &id).await["status"], "sent");
}

#[tokio::test]
async fn concurrent_reports_are_both_recorded() {
    let (app, ada) = start().await;
    for _ in 0..10 {
        let id = entry_in(&app, &ada, Status::Sent).await;
        let (open, complaint) = (event(&app, "open", &id).await, event(&app, "complaint", &id).await);
        tokio::join!(take(&app, &open), take(&app, &complaint));
        assert_eq!(read(&app, &id).await["status"], "marked-as-spam");
        work(&app, &id, |entry| {
            let model::outbox::Stage::Sent { reports, .. } = entry.stage else { panic!("{:?}", entry.stage) };
            assert!(reports.opened_at.is_some());
            Some(entry)
        })
        .await;
    }
}

#[tokio::test]
async fn other_messages_are_ignored() {
    let (app, _, id) = with_entry(Status::Sent).await;
    let good = event(&app, "bounce", &id).await;
    let mut other_kind = good.clone();
    other_kind["detail"]["eventType"] = json!("Subscription");
    let mut foreign = good.clone();
    foreign["detail"]["mail"]["tags"] = json!({ "ses:configuration-set": ["gatelet"] });
    let mut damaged = good.clone();
    damaged["detail"]["mail"]["tags"]["gatelet-entry"] = json!(["x"]);
    for event in [other_kind, foreign, damaged, json!({}), json!(null), json!({ "source": "aws.events", "detail": {} })] {
        assert_eq!(reports::read(&event), None, "{event}");
    }
    // One report names an unknown entry, and the other names a project that the entry does not
    // belong to.
    let mut nobody = good.clone();
    nobody["detail"]["mail"]["tags"]["gatelet-entry"] = json!(["3b1f5a52-8f0e-4b57-9d2c-7c8d9e0f1a2b"]);
    assert!(!take(&app, &nobody).await);
    let other = app.another_project().await;
    let mut elsewhere = good.clone();
    elsewhere["detail"]["mail"]["tags"]["gatelet-project"] = json!([other.project_id]);
    assert!(!take(&app, &elsewhere).await);
    assert_eq!(read(&app, &id).await["status"], "sent");
}
