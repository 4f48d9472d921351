//! The changes that API callers can make to an outbox entry before it is sent.

use deserr::Deserr;
use jiff::Timestamp;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use wire::change::Change;
use wire::problem::Problems;

use crate::document::theme::ThemeId;
use crate::document::{HtmlSource, html_of};
use crate::outbox::status::{Move, Status};
use crate::outbox::{MAX_ADDRESSES, OutboxEntry, Recipients, SkippedReason, Stage};

/// The body of a request to update an entry. Absent fields keep their values; an empty body changes
/// only `updated_at_millis`.
#[wire::optional]
#[derive(Clone, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct OutboxPatch {
    /// MiniJinja source of the subject.
    pub subject_source: Option<String>,
    /// MiniJinja source of the body, in HTML, or in MJML if its first element is `<mjml>`.
    pub html_source: Option<HtmlSource>,
    /// An alias of `html_source`, used by published SDKs.
    pub tsx_source: Option<HtmlSource>,
    /// MiniJinja source of the text body; `null` derives it from the HTML, or restores the text of
    /// a built-in email whose HTML is unchanged.
    pub text_source: Change<String>,
    /// The id of the theme around the email; `null` for no theme.
    #[schema(value_type = Option<Uuid>)]
    pub theme_id: Change<ThemeId>,
    /// The new recipients. An email with a code can only be sent to the address that the code is
    /// for.
    pub to: Option<Recipients>,
    /// Replaces all variables. A variable that is sent back as it was read, with `••••••` for a
    /// code, keeps its code.
    pub variables: Option<Variables>,
    /// Stored for published SDKs, but has no effect: deliverability is not checked.
    pub skip_deliverability_check: Option<bool>,
    /// When to send the email, in milliseconds since the Unix epoch.
    pub scheduled_at_millis: Option<AtMillis>,
    /// Whether the entry is paused: workers skip it until it is resumed.
    pub is_paused: Option<bool>,
    /// Only `true` is accepted: the entry is permanently skipped, and the other fields are ignored.
    #[schema(value_type = Option<bool>)]
    pub cancel: Option<Cancel>,
}

/// The literal `true`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancel;

wire::deserr_from!(Cancel, bool, |value| if value { Ok(Self) } else { Err("must be true") });

/// A time on the wire: milliseconds since the Unix epoch, within the range of a [`Timestamp`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtMillis(pub Timestamp);

wire::deserr_from!(AtMillis, i64, |millis| {
    Timestamp::from_millisecond(millis).map(Self).map_err(|_| "must be a time in milliseconds since the Unix epoch")
});

/// Values for an email's template: a JSON object.
#[derive(Debug, Clone, PartialEq, ToSchema)]
#[schema(value_type = Object)]
pub struct Variables(pub Map<String, Value>);

wire::deserr_from!(Variables, Value, |value| match value {
    Value::Object(map) => Ok(Self(map)),
    _ => Err("must be an object"),
});

/// Why an entry was not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The email is being sent, was sent, or was skipped or cancelled.
    #[error("an outbox entry with status {} cannot be edited", .0.name())]
    NotEditable(Status),
    /// The code in the email proves control of the original recipient's address, so the email must
    /// not be sent to anyone else.
    #[error("an email with a code cannot be redirected to other recipients")]
    Redirected,
}

impl OutboxPatch {
    /// Fails if the HTML source is given twice, or if there are more than [`MAX_ADDRESSES`]
    /// recipients.
    pub fn check(&self) -> Result<(), Problems> {
        if self.to.as_ref().is_some_and(|to| to.addresses().len() > MAX_ADDRESSES) {
            return Err(Problems::one("body.to.emails", format!("must have at most {MAX_ADDRESSES} addresses")));
        }
        html_of(self.html_source.clone(), self.tsx_source.clone()).map(drop)
    }

    fn changes_content(&self) -> bool {
        self.subject_source.is_some()
            || self.html_source.is_some()
            || self.tsx_source.is_some()
            || !self.text_source.is_keep()
            || !self.theme_id.is_keep()
            || self.to.is_some()
            || self.variables.is_some()
    }

    fn is_empty(&self) -> bool {
        !self.changes_content()
            && self.skip_deliverability_check.is_none()
            && self.scheduled_at_millis.is_none()
            && self.is_paused.is_none()
    }
}

impl Stage {
    /// The stage of an email that was cancelled. If rendering or sending had begun, the stage keeps
    /// that time.
    fn cancelled(&self, now: Timestamp) -> Self {
        let (started_rendering_at, started_sending_at) = match *self {
            Self::Rendering { started_at, .. } | Self::RenderError { started_at, .. } => (Some(started_at), None),
            Self::ServerError { started_at, .. } => (None, Some(started_at)),
            _ => (None, None),
        };
        Self::Skipped { at: now.as_millisecond(), reason: SkippedReason::ManuallyCancelled, started_rendering_at, started_sending_at }
    }
}

impl OutboxEntry {
    /// The entry with `patch` applied. This function is pure, so every transition can be tested
    /// without a table.
    pub fn apply(mut self, patch: OutboxPatch, now: Timestamp) -> Result<Self, Refusal> {
        let status = self.status();
        if !status.allows(if patch.cancel.is_some() { Move::Cancel } else { Move::Patch }) {
            return Err(Refusal::NotEditable(status));
        }
        self.updated_at = now;
        if patch.cancel.is_some() {
            self.is_paused = false;
            self.next_retry_at = None;
            self.stage = self.stage.cancelled(now);
            return Ok(self);
        }
        if patch.is_empty() {
            return Ok(self);
        }
        // A worker that is rendering loses its claim to the entry; a worker that is about to send
        // finds that the entry is no longer queued.
        match self.stage {
            Stage::Rendering { .. } => self.stage = Stage::Preparing,
            Stage::Queued => self.stage = Stage::Scheduled,
            _ => {}
        }
        if patch.changes_content() {
            self.stage = Stage::Preparing;
            self.rendered = None;
            self.failures.clear();
            self.next_retry_at = None;
        }
        let is_redirected = patch.to.as_ref().is_some_and(|to| *to != self.to);
        self.set_fields(patch);
        if is_redirected && self.carries_codes() {
            return Err(Refusal::Redirected);
        }
        Ok(self)
    }

    fn set_fields(&mut self, patch: OutboxPatch) {
        let source = &mut self.source;
        source.subject = patch.subject_source.or(source.subject.take());
        source.html = patch.html_source.or(patch.tsx_source).map(|html| html.0).or(source.html.take());
        patch.text_source.apply(&mut source.text);
        patch.theme_id.map(|theme| theme.0).apply(&mut source.theme_id);
        self.to = patch.to.unwrap_or_else(|| self.to.clone());
        if let Some(Variables(variables)) = patch.variables {
            self.replace_variables(variables);
        }
        self.skip_deliverability_check = patch.skip_deliverability_check.unwrap_or(self.skip_deliverability_check);
        self.scheduled_at = patch.scheduled_at_millis.map_or(self.scheduled_at, |time| time.0);
        self.is_paused = patch.is_paused.unwrap_or(self.is_paused);
    }
}
