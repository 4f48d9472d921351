//! An entry of the outbox on the wire: the fields that its state has, and no other.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::clock::Millis;
use wire::id::EmailId;

use crate::document::builtin;
use crate::email::category::Category;
use crate::outbox::reports::Reports;
use crate::outbox::status::{SimpleStatus, Status};
use crate::outbox::{CreatedWith, OutboxEntry, Recipients, Rendered, SkippedReason, Stage};

/// An entry of the outbox. Times are milliseconds since the epoch.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OutboxView {
    pub id: EmailId,
    pub created_at_millis: Millis,
    pub updated_at_millis: Millis,
    pub subject_source: String,
    pub html_source: String,
    pub text_source: Option<String>,
    pub theme_id: Option<Uuid>,
    pub to: Recipients,
    /// `••••••` stands for the codes of the service's own mails, before and after sending.
    #[schema(value_type = Object)]
    pub variables: Map<String, Value>,
    pub skip_deliverability_check: bool,
    pub scheduled_at_millis: Millis,
    pub created_with: CreatedWith,
    pub email_draft_id: Option<Uuid>,
    pub email_programmatic_call_template_id: Option<Uuid>,
    pub send_retries: usize,
    pub next_send_retry_at_millis: Option<Millis>,
    pub send_attempt_errors: Option<Vec<AttemptError>>,
    pub status: Status,
    pub simple_status: SimpleStatus,
    pub is_paused: bool,
    pub has_rendered: bool,
    pub has_delivered: bool,
    #[schema(value_type = RenderedView)]
    #[serde(flatten)]
    pub rendered: Option<RenderedView>,
    #[serde(flatten)]
    pub moments: Moments,
}

/// One failed attempt to send.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AttemptError {
    /// From 1.
    pub attempt_number: usize,
    /// RFC 3339.
    pub timestamp: String,
    pub external_message: String,
    #[schema(value_type = Object)]
    pub external_details: Value,
    pub internal_message: String,
    #[schema(value_type = Object)]
    pub internal_details: Value,
}

/// The fields of an entry that has been rendered: all of them, or none.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RenderedView {
    #[schema(required = false)]
    pub rendered_at_millis: Millis,
    /// `••••••` stands for codes, here and in the bodies.
    #[schema(required = false)]
    pub subject: String,
    /// `null` from 24 hours after the mail was sent, skipped or given up.
    #[schema(required = false)]
    pub html: Option<String>,
    /// `null` from 24 hours after the mail was sent, skipped or given up.
    #[schema(required = false)]
    pub text: Option<String>,
    #[schema(required = false)]
    pub is_transactional: bool,
    #[schema(required = false)]
    pub is_high_priority: bool,
    #[schema(required = false)]
    pub notification_category_id: Option<Uuid>,
}

/// What happened when, as far as it happened.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct Moments {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_rendering_at_millis: Option<Millis>,
    /// Only with `render_error`; a rendered entry has it among the rendered fields.
    #[serde(skip_serializing_if = "Option::is_none", rename = "rendered_at_millis")]
    pub failed_rendering_at_millis: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub render_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_sending_at_millis: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_at_millis: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_at_millis: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_reason: Option<SkippedReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub skipped_details: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_at_millis: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounced_at_millis: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_delayed_at_millis: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_at_millis: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clicked_at_millis: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked_as_spam_at_millis: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_have_delivery_info: Option<bool>,
}

impl OutboxView {
    /// The entry as it is shown now, whoever asks: without codes, and without its bodies once they are erased.
    pub fn of(entry: &OutboxEntry, now: Timestamp) -> Self {
        let entry = &*entry.shown();
        let status = entry.status();
        // A paused entry shows nothing of what it had become, as an edit may undo it.
        let rendered = entry.rendered.as_ref().filter(|_| status != Status::Paused);
        let moments = if status == Status::Paused { Moments::default() } else { Moments::of(&entry.stage, rendered) };
        let delivered = matches!(status, Status::Sent | Status::Opened | Status::Clicked | Status::MarkedAsSpam);
        let source = builtin::sources(&entry.source);
        Self {
            id: entry.id,
            created_at_millis: entry.created_at.as_millisecond(),
            updated_at_millis: entry.updated_at.as_millisecond(),
            subject_source: source.subject.to_owned(),
            html_source: source.html.to_owned(),
            text_source: source.text.map(str::to_owned),
            theme_id: entry.source.theme_id,
            to: entry.to.clone(),
            variables: entry.variables.clone(),
            skip_deliverability_check: entry.skip_deliverability_check,
            scheduled_at_millis: entry.scheduled_at.as_millisecond(),
            created_with: entry.created_with,
            email_draft_id: entry.source.draft_id,
            email_programmatic_call_template_id: entry.source.template_id,
            send_retries: entry.failures.len(),
            next_send_retry_at_millis: entry.next_retry_at.map(Timestamp::as_millisecond),
            send_attempt_errors: attempt_errors(entry),
            status,
            simple_status: status.simple(),
            is_paused: entry.is_paused,
            has_rendered: rendered.is_some(),
            has_delivered: delivered,
            rendered: rendered.map(|rendered| RenderedView::of(rendered, entry, now)),
            moments,
        }
    }
}

fn attempt_errors(entry: &OutboxEntry) -> Option<Vec<AttemptError>> {
    let errors = entry.failures.iter().enumerate().map(|(index, failure)| AttemptError {
        attempt_number: index + 1,
        timestamp: Timestamp::from_millisecond(failure.at).unwrap_or_default().to_string(),
        external_message: failure.message.clone(),
        external_details: json!({ "errorType": failure.class }),
        internal_message: if failure.cause.is_empty() { failure.message.clone() } else { failure.cause.clone() },
        internal_details: json!({ "errorType": failure.class }),
    });
    (!entry.failures.is_empty()).then(|| errors.collect())
}

impl RenderedView {
    fn of(rendered: &Rendered, entry: &OutboxEntry, now: Timestamp) -> Self {
        let body = |body: &Option<String>| body.clone().filter(|_| !entry.is_erased(now));
        Self {
            rendered_at_millis: rendered.at,
            subject: rendered.subject.clone(),
            html: body(&rendered.html),
            text: body(&rendered.text),
            is_transactional: entry.category == Category::Transactional,
            is_high_priority: entry.is_high_priority,
            notification_category_id: Some(entry.category.id()),
        }
    }
}

impl Moments {
    fn of(stage: &Stage, rendered: Option<&Rendered>) -> Self {
        let base = Self { started_rendering_at_millis: rendered.map(|rendered| rendered.started_at), ..Self::default() };
        match *stage {
            Stage::Preparing | Stage::Scheduled | Stage::Queued => base,
            Stage::Rendering { started_at, .. } => Self { started_rendering_at_millis: Some(started_at), ..base },
            Stage::RenderError { started_at, at, ref message } => Self {
                started_rendering_at_millis: Some(started_at),
                failed_rendering_at_millis: Some(at),
                render_error: Some(message.clone()),
                ..base
            },
            Stage::Sending { started_at, .. } => Self { started_sending_at_millis: Some(started_at), ..base },
            Stage::ServerError { started_at, at, ref message } => {
                Self { started_sending_at_millis: Some(started_at), error_at_millis: Some(at), server_error: Some(message.clone()), ..base }
            }
            Stage::Skipped { at, reason, started_rendering_at, started_sending_at } => Self {
                started_rendering_at_millis: base.started_rendering_at_millis.or(started_rendering_at),
                started_sending_at_millis: started_sending_at,
                skipped_at_millis: Some(at),
                skipped_reason: Some(reason),
                skipped_details: Some(json!({})),
                ..base
            },
            Stage::Sent { started_at, at, ref reports, is_reported_on } => base.sent(started_at, at, reports, is_reported_on),
        }
    }

    /// After sending: the moments of the state that the reports make, and no others.
    fn sent(self, started_at: Millis, at: Millis, reports: &Reports, is_reported_on: bool) -> Self {
        let begun = Self { started_sending_at_millis: Some(started_at), ..self };
        let delivered = Self {
            delivered_at_millis: Some(reports.delivered_at.unwrap_or(at)),
            can_have_delivery_info: Some(is_reported_on),
            ..begun.clone()
        };
        match reports.status() {
            Status::Bounced => Self { bounced_at_millis: reports.bounced_at, ..begun },
            Status::DeliveryDelayed => Self { delivery_delayed_at_millis: reports.delayed_at, ..begun },
            Status::Opened => Self { opened_at_millis: reports.opened_at, ..delivered },
            Status::Clicked => Self { clicked_at_millis: reports.clicked_at, ..delivered },
            Status::MarkedAsSpam => Self { marked_as_spam_at_millis: reports.marked_as_spam_at, ..delivered },
            _ => delivered,
        }
    }
}
