//! `GET /api/v1/emails/outbox/{id}`, with tests about the exact fields in every state.

use std::collections::BTreeSet;

use model::outbox::status::Status;
use serde_json::{Value, json};
use support::{START, TestApp};

use super::{HOUR, entry_in, path, read, send, with_entry};

const BASE: &str = "id created_at_millis updated_at_millis subject_source html_source tsx_source text_source theme_id to variables \
    skip_deliverability_check scheduled_at_millis created_with email_draft_id email_programmatic_call_template_id send_retries \
    next_send_retry_at_millis send_attempt_errors status simple_status is_paused has_rendered has_delivered";
const RENDERED: &str = "started_rendering_at_millis rendered_at_millis subject html text is_transactional is_high_priority \
    notification_category_id";
const DELIVERED: &str = "started_sending_at_millis delivered_at_millis can_have_delivery_info";

/// The simple status of each state, and the fields that not all states have.
fn fields(status: Status) -> (&'static str, Vec<&'static str>) {
    match status {
        Status::Paused | Status::Preparing => ("in-progress", vec![]),
        Status::Rendering => ("in-progress", vec!["started_rendering_at_millis"]),
        Status::RenderError => ("error", vec!["started_rendering_at_millis rendered_at_millis render_error"]),
        Status::Scheduled | Status::Queued => ("in-progress", vec![RENDERED]),
        Status::Sending => ("in-progress", vec![RENDERED, "started_sending_at_millis"]),
        Status::ServerError => ("error", vec![RENDERED, "started_sending_at_millis error_at_millis server_error"]),
        Status::Skipped => ("ok", vec!["skipped_at_millis skipped_reason skipped_details"]),
        Status::Bounced => ("error", vec![RENDERED, "started_sending_at_millis bounced_at_millis"]),
        Status::DeliveryDelayed => ("ok", vec![RENDERED, "started_sending_at_millis delivery_delayed_at_millis"]),
        Status::Sent => ("ok", vec![RENDERED, DELIVERED]),
        Status::Opened => ("ok", vec![RENDERED, DELIVERED, "opened_at_millis"]),
        Status::Clicked => ("ok", vec![RENDERED, DELIVERED, "clicked_at_millis"]),
        Status::MarkedAsSpam => ("ok", vec![RENDERED, DELIVERED, "marked_as_spam_at_millis"]),
    }
}

#[tokio::test]
async fn an_entry_has_exactly_the_fields_of_its_state() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for &status in Status::ALL {
        let id = entry_in(&app, &ada, status).await;
        let entry = read(&app, &id).await;
        let (simple, groups) = fields(status);
        let wanted: BTreeSet<&str> = groups.into_iter().chain([BASE]).flat_map(str::split_whitespace).collect();
        let found: BTreeSet<&str> = entry.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(found, wanted, "{status:?}");
        assert_eq!(entry["simple_status"], simple, "{status:?}");
        assert_eq!(entry["is_paused"], json!(status == Status::Paused), "{status:?}");
        assert_eq!(entry["has_rendered"], json!(wanted.contains("subject")), "{status:?}");
        assert_eq!(entry["has_delivered"], json!(wanted.contains("delivered_at_millis")), "{status:?}");
    }
}

#[tokio::test]
async fn an_entry_has_its_sources_and_its_rendered_content() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let start = START.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let html = "<p>{{ user.id }} of {{ project.id }}</p>";
    let id = send(&app, &ada, json!({ "subject": "Hi", "html": html, "theme_id": false })).await["id"].as_str().unwrap().to_owned();
    app.send_emails().await;

    let rendered = format!("{} of {}", ada.user_id, app.project_id());
    let expected = json!({
        "id": id, "created_at_millis": start, "updated_at_millis": start, "subject_source": "Hi", "html_source": html,
        "tsx_source": html, "text_source": null,
        "theme_id": null, "to": { "type": "user-primary-email", "user_id": ada.user_id }, "variables": {},
        "skip_deliverability_check": false, "scheduled_at_millis": start, "created_with": "programmatic-call", "email_draft_id": null,
        "email_programmatic_call_template_id": null, "send_retries": 0, "next_send_retry_at_millis": null, "send_attempt_errors": null,
        "status": "sent", "simple_status": "ok", "is_paused": false, "has_rendered": true, "has_delivered": true,
        "started_rendering_at_millis": start, "rendered_at_millis": start, "subject": "Hi", "html": format!("<p>{rendered}</p>"),
        "text": format!("{rendered}\n").replace(" of ", " of\n"), "is_transactional": true, "is_high_priority": false,
        "notification_category_id": "7bb82d33-2f54-4a3d-9d23-82739e0d66ef", "started_sending_at_millis": start,
        "delivered_at_millis": start, "can_have_delivery_info": false,
    });
    let mut entry = read(&app, &id).await;
    // Line breaks in the derived text are not tested here.
    let words = |text: &Value| text.as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&entry["text"]), rendered);
    entry["text"] = expected["text"].clone();
    assert_eq!(entry, expected);
}

#[tokio::test]
async fn a_failed_attempt_is_reported_with_its_class() {
    let (app, _, id) = with_entry(Status::ServerError).await;
    let entry = read(&app, &id).await;
    assert_eq!(entry["server_error"], "nobody wants it");
    let error = json!({
        "attempt_number": 1, "timestamp": START, "external_message": "nobody wants it", "external_details": { "errorType": "REJECTED" },
        "internal_message": "MessageRejected: spam", "internal_details": { "errorType": "REJECTED" },
    });
    assert_eq!(entry["send_attempt_errors"], json!([error]));
}

#[tokio::test]
async fn a_built_in_email_shows_its_sources() {
    let app = TestApp::start().await;
    app.sign_in_code("ada@example.com").await;
    let list = app.server().get(super::OUTBOX).await.json();
    let entry = &list["items"][0];
    assert_eq!(entry["subject_source"], "Sign in to {{ project.display_name }}: Your code is {{ variables.otp }}");
    assert!(entry["html_source"].as_str().unwrap().contains("{{ variables.link }}"));
    assert!(entry["text_source"].as_str().unwrap().contains("{{ variables.link }}"));
    assert_eq!(entry["to"], json!({ "type": "custom-emails", "emails": ["ada@example.com"] }));
    assert_eq!((&entry["is_high_priority"], &entry["variables"]["email"]), (&json!(true), &json!("ada@example.com")));
}

#[tokio::test]
async fn the_validator_changes_with_the_entry() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = send(&app, &ada, json!({ "scheduled_at_millis": app.now().as_millisecond() + HOUR })).await["id"].as_str().unwrap().to_owned();
    let tag = |answer: support::Answer| answer.header("etag").unwrap().to_owned();
    let before = tag(app.server().get(&path(&id)).await);
    assert_eq!(tag(app.server().get(&path(&id)).await), before);
    let updated = tag(app.server().patch(&path(&id), json!({})).await);
    assert_ne!(updated, before);
    assert_eq!(tag(app.server().get(&path(&id)).await), updated);
}

#[tokio::test]
async fn an_unknown_entry_is_not_found() {
    let (app, _, id) = with_entry(Status::Preparing).await;
    let other = app.another_project().await;
    let nobody = "00000000-0000-4000-8000-000000000000";
    for answer in [app.server().get(&path(nobody)).await, app.server_of(&other).get(&path(&id)).await] {
        assert_eq!((answer.status(), answer.code().as_str()), (404, "EMAIL_NOT_FOUND"));
        assert_eq!(answer.header("x-stack-known-error"), None);
    }
    let answer = app.server().get(&path("not-an-id")).await;
    assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"));
    assert!(answer.text().contains("params.id"), "{}", answer.text());
}

#[tokio::test]
async fn clients_cannot_read_the_outbox() {
    let (app, ada, id) = with_entry(Status::Preparing).await;
    let answer = app.signed_in(&ada).get(&path(&id)).await;
    assert_eq!((answer.status(), answer.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
    assert_eq!(app.anonymous().get(&path(&id)).await.code(), "ACCESS_TYPE_REQUIRED");
    assert_eq!(app.server().with("x-stack-secret-server-key", "ssk_wrong").get(&path(&id)).await.code(), "INVALID_SECRET_SERVER_KEY");
}
