//! An outbox entry in responses, with exactly the fields that belong to its status.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::clock::Millis;
use wire::id::EmailId;

use crate::email::category::Category;
use crate::outbox::reports::Reports;
use crate::outbox::status::{SimpleStatus, Status};
use crate::outbox::{CreatedWith, OutboxEntry, Recipients, RenderedEmail, SkippedReason, Stage};

/// An outbox entry. Times are milliseconds since the Unix epoch.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OutboxView {
    /// The id of the entry.
    pub id: EmailId,
    /// When the entry was created.
    pub created_at_millis: Millis,
    /// When the entry was last changed.
    pub updated_at_millis: Millis,
    /// MiniJinja source of the subject.
    pub subject_source: String,
    /// MiniJinja source of the body, in HTML or MJML.
    pub html_source: String,
    /// An alias of `html_source`, for published SDKs.
    pub tsx_source: String,
    /// MiniJinja source of the text body; derived from the HTML if `null`.
    pub text_source: Option<String>,
    /// The theme around the email; `null` for no theme.
    pub theme_id: Option<Uuid>,
    /// Who receives the email.
    pub to: Recipients,
    /// The template's variables. Codes in the service's own emails are masked with `••••••`, before
    /// and after sending.
    #[schema(value_type = Object)]
    pub variables: Map<String, Value>,
    /// Stored for published SDKs, but has no effect: deliverability is not checked.
    pub skip_deliverability_check: bool,
    /// When to send the email.
    pub scheduled_at_millis: Millis,
    /// Whether the email was created from a draft or by an API call.
    pub created_with: CreatedWith,
    /// The draft from which the email was created; `null` if the email was not created from a
    /// draft.
    pub email_draft_id: Option<Uuid>,
    /// The template from which the email was created; `null` if the email was not created from a
    /// template.
    pub email_programmatic_call_template_id: Option<Uuid>,
    /// The number of failed attempts to send.
    pub send_retries: usize,
    /// When the next attempt is due; `null` if no further attempt is planned.
    pub next_send_retry_at_millis: Option<Millis>,
    /// The failed attempts, oldest first; `null` if no attempt has failed.
    pub send_attempt_errors: Option<Vec<AttemptError>>,
    /// The status.
    pub status: Status,
    /// A summary of the status.
    pub simple_status: SimpleStatus,
    /// Whether the entry is paused: workers skip it until it is resumed.
    pub is_paused: bool,
    /// Whether the entry has been rendered; `false` while it is paused.
    pub has_rendered: bool,
    /// Whether the status is `sent`, `opened`, `clicked` or `marked-as-spam`.
    pub has_delivered: bool,
    /// The result of rendering; absent while the entry is paused or not rendered.
    #[schema(value_type = RenderedView)]
    #[serde(flatten)]
    pub rendered: Option<RenderedView>,
    /// The times and details of the events so far.
    #[serde(flatten)]
    pub moments: Moments,
}

/// A failed attempt to send.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AttemptError {
    /// The number of the attempt, starting at 1.
    pub attempt_number: usize,
    /// When the attempt failed, in RFC 3339 format.
    pub timestamp: String,
    /// A description of the error. If the mail server refused the email, a colon and the server's
    /// text follow.
    pub external_message: String,
    /// The class of the error.
    #[schema(value_type = Object)]
    pub external_details: Value,
    /// The cause: the mail service's response, or the error that occurred instead of a response;
    /// the same as `external_message` if unknown.
    pub internal_message: String,
    /// The class of the error, as in `external_details`.
    #[schema(value_type = Object)]
    pub internal_details: Value,
}

/// The fields of a rendered entry, which are present or absent together.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RenderedView {
    /// The subject line. Codes are masked with `••••••`, here and in the bodies.
    #[schema(required = false)]
    pub subject: String,
    /// The HTML body; `null` from 24 hours after the email was sent, skipped or given up.
    #[schema(required = false)]
    pub html: Option<String>,
    /// The text body; `null` from 24 hours after the email was sent, skipped or given up.
    #[schema(required = false)]
    pub text: Option<String>,
    /// Whether the email's category is transactional.
    #[schema(required = false)]
    pub is_transactional: bool,
    /// Whether the email is sent before emails without high priority.
    #[schema(required = false)]
    pub is_high_priority: bool,
    /// The category that the email belongs to.
    #[schema(required = false)]
    pub notification_category_id: Option<Uuid>,
}

/// The times and details of the events so far. Empty for a paused entry.
#[wire::sparse]
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct Moments {
    /// When a worker began to render the entry.
    pub started_rendering_at_millis: Option<Millis>,
    /// When rendering ended or, with `render_error`, when it failed.
    pub rendered_at_millis: Option<Millis>,
    /// Why rendering failed.
    pub render_error: Option<String>,
    /// When a worker began to send the email.
    pub started_sending_at_millis: Option<Millis>,
    /// When sending failed permanently, or was given up because the outcome is unknown.
    pub error_at_millis: Option<Millis>,
    /// Why sending failed.
    pub server_error: Option<String>,
    /// When the email was skipped.
    pub skipped_at_millis: Option<Millis>,
    /// Why the email was skipped.
    pub skipped_reason: Option<SkippedReason>,
    /// Present with `skipped_reason`; always an empty object.
    #[schema(value_type = Option<Object>)]
    pub skipped_details: Option<Value>,
    /// When the recipient's server accepted the email; until this is reported, when the mail
    /// service accepted the email.
    pub delivered_at_millis: Option<Millis>,
    /// When the email bounced.
    pub bounced_at_millis: Option<Millis>,
    /// When delivery was reported as delayed.
    pub delivery_delayed_at_millis: Option<Millis>,
    /// When the recipient opened the email.
    pub opened_at_millis: Option<Millis>,
    /// When the recipient followed a link.
    pub clicked_at_millis: Option<Millis>,
    /// When the recipient reported the email as spam.
    pub marked_as_spam_at_millis: Option<Millis>,
    /// Whether the mail service sends reports on this email.
    pub can_have_delivery_info: Option<bool>,
}

impl OutboxView {
    /// The entry as shown to all callers: codes are masked, and bodies that count as erased are
    /// omitted.
    pub fn of(entry: &OutboxEntry, now: Timestamp) -> Self {
        let entry = &*entry.shown();
        let status = entry.status();
        // The result is hidden while the entry is paused, because an edit may discard it.
        let rendered = entry.rendered.as_ref().filter(|_| status != Status::Paused);
        let moments = if status == Status::Paused { Moments::default() } else { Moments::of(&entry.stage, rendered) };
        let delivered = matches!(status, Status::Sent | Status::Opened | Status::Clicked | Status::MarkedAsSpam);
        let source = entry.source.complete();
        Self {
            id: entry.id,
            created_at_millis: entry.created_at.as_millisecond(),
            updated_at_millis: entry.updated_at.as_millisecond(),
            subject_source: source.subject.to_owned(),
            html_source: source.html.to_owned(),
            tsx_source: source.html.to_owned(),
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
    fn of(rendered: &RenderedEmail, entry: &OutboxEntry, now: Timestamp) -> Self {
        let body = |body: &Option<String>| body.clone().filter(|_| !entry.is_erased(now));
        Self {
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
    fn of(stage: &Stage, rendered: Option<&RenderedEmail>) -> Self {
        let base = Self {
            started_rendering_at_millis: rendered.map(|rendered| rendered.started_at),
            rendered_at_millis: rendered.map(|rendered| rendered.at),
            ..Self::default()
        };
        match *stage {
            Stage::Preparing | Stage::Scheduled | Stage::Queued => base,
            Stage::Rendering { started_at, .. } => Self { started_rendering_at_millis: Some(started_at), ..base },
            Stage::RenderError { started_at, at, ref message } => Self {
                started_rendering_at_millis: Some(started_at),
                rendered_at_millis: Some(at),
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

    /// Adds when sending began, and the later times that belong to the status derived from the
    /// reports.
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
