//! Emails, with tests about templates, sending, the outbox, reports by the email service, and
//! preferences of users.

mod broadcasts;
mod builtin_mails;
mod capacity_boost;
mod delivery_info;
mod documents;
mod entries;
mod fairness;
mod internal_list;
mod managed_onboarding_list;
mod outbox_bodies;
mod outbox_codes;
mod outbox_list;
mod outbox_moves;
mod outbox_read;
mod outbox_update;
mod preferences;
mod quota;
mod races;
mod render;
mod reports;
mod send;
mod send_documents;
mod send_sign_in_invitation;
mod send_test_email;
mod senders;
mod template_update;
mod theme_delete;
mod turns;
mod unsubscribe;

use model::outbox::report::Report;
use model::outbox::status::{ReportKind, Status};
use model::outbox::work::Outcome;
use model::outbox::{OutboxEntry, SendError, Stage};
use serde_json::{Value, json};
use store::outbox::transition::OutboxMove;
use support::{SignedInUser, TestApp};
use uuid::Uuid;
use wire::clock::Millis;
use wire::id::EmailId;

pub(crate) const SEND: &str = "/api/v1/emails/send-email";
pub(crate) const OUTBOX: &str = "/api/v1/emails/outbox";
pub(crate) const HOUR: Millis = 3_600_000;

/// Sends `<p>Hello</p>` to a user, and returns the entry. `fields` are added to the request or
/// replace its fields.
pub(crate) async fn send(app: &TestApp, to: &SignedInUser, fields: Value) -> Value {
    let mut body = json!({ "user_ids": [to.user_id], "subject": "Greetings", "html": "<p>Hello</p>" });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let known = ids(app).await;
    let answer = app.server().post(SEND, body).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let id = ids(app).await.into_iter().find(|id| !known.contains(id)).unwrap();
    read(app, &id).await
}

async fn ids(app: &TestApp) -> Vec<String> {
    let list = app.server().get(OUTBOX).await.json();
    list["items"].as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn path(id: &str) -> String {
    format!("{OUTBOX}/{id}")
}

pub(crate) async fn read(app: &TestApp, id: &str) -> Value {
    let answer = app.server().get(&path(id)).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

/// Changes an entry by a rule of the model, as a worker does. `None` if the rule does not apply to
/// the entry's state.
pub(crate) async fn work(app: &TestApp, id: &str, rule: impl FnOnce(OutboxEntry) -> Option<OutboxEntry>) {
    let id = EmailId::parse(id).unwrap();
    let row = app.app.store.outbox_entry(app.project_id(), id).await.unwrap().unwrap();
    let entry = rule(row.entry.clone()).unwrap_or_else(|| panic!("{id} is in the wrong state for this step"));
    app.app.store.move_outbox_entry(OutboxMove::new(row, entry)).await.unwrap();
}

/// Sends an email to a user, moves the email's entry to this status, and returns the entry's id.
pub(crate) async fn entry_in(app: &TestApp, to: &SignedInUser, status: Status) -> String {
    let later = json!({ "scheduled_at_millis": app.now().as_millisecond() + HOUR });
    let fields = match status {
        Status::Scheduled => later,
        Status::RenderError => json!({ "html": "<p>{{ variables.nobody }}</p>" }),
        _ => json!({}),
    };
    let id = send(app, to, fields).await["id"].as_str().unwrap().to_owned();
    match status {
        Status::Preparing => {}
        Status::Paused => update(app, &id, json!({ "is_paused": true })).await,
        Status::Skipped => update(app, &id, json!({ "cancel": true })).await,
        Status::Scheduled | Status::RenderError | Status::Sent => app.send_emails().await,
        Status::Rendering => work(app, &id, |entry| entry.begin_rendering(Uuid::nil(), app.now())).await,
        Status::Queued | Status::Sending | Status::ServerError => work(app, &id, |entry| sending(app, entry, status)).await,
        _ => {
            app.send_emails().await;
            work(app, &id, |entry| after_delivery(app, entry, status)).await;
        }
    }
    assert_eq!(read(app, &id).await["status"], status.name());
    id
}

/// A service, a user, and the id of an email to the user. The email's entry has this status.
pub(crate) async fn with_entry(status: Status) -> (TestApp, SignedInUser, String) {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = entry_in(&app, &ada, status).await;
    (app, ada, id)
}

async fn update(app: &TestApp, id: &str, patch: Value) {
    let answer = app.server().patch(&path(id), patch).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
}

/// Moves an entry from `preparing` through the following states to this status. The status may be
/// `server-error` at most. `None` if the entry starts in another state.
fn sending(app: &TestApp, entry: OutboxEntry, status: Status) -> Option<OutboxEntry> {
    let now = app.now();
    let mail = ("Greetings".to_owned(), Some("<p>Hello</p>".to_owned()), Some("Hello".to_owned()));
    let queued = entry.begin_rendering(Uuid::nil(), now)?.finish_rendering(Uuid::nil(), Ok(mail), now)?;
    if status == Status::Queued {
        return Some(queued);
    }
    let sending = queued.begin_sending(Uuid::nil(), now)?;
    if status == Status::Sending {
        return Some(sending);
    }
    let failure = SendError::new(now, "REJECTED", "nobody wants it").because("MessageRejected: spam");
    sending.finish_sending(Uuid::nil(), Outcome::Final(failure), 0.0, now)
}

/// Applies a later report about a sent email. `None` if the entry's state does not permit the
/// report.
fn after_delivery(app: &TestApp, entry: OutboxEntry, status: Status) -> Option<OutboxEntry> {
    let kind = match status {
        Status::Bounced => ReportKind::Bounced,
        Status::DeliveryDelayed => ReportKind::Delayed,
        Status::Opened => ReportKind::Opened,
        Status::Clicked => ReportKind::Clicked,
        Status::MarkedAsSpam => ReportKind::MarkedAsSpam,
        other => panic!("{other:?} does not follow a delivery"),
    };
    let report = Report { attempt: attempt(&entry), kind, at: app.now().as_millisecond() };
    entry.report(report, app.now())
}

/// The time of an entry's last attempt.
pub(crate) fn attempt(entry: &OutboxEntry) -> Millis {
    match entry.stage {
        Stage::Sending { started_at, .. } | Stage::ServerError { started_at, .. } | Stage::Sent { started_at, .. } => started_at,
        ref other => panic!("an entry in {other:?} has no attempts"),
    }
}
