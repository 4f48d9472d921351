//! The stages of an email.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::clock::Millis;

use crate::outbox::kept::KeptBodies;
use crate::outbox::reports::Reports;

/// The stage of an entry, with the data of that stage. Times are in milliseconds since the Unix
/// epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Stage {
    /// The entry waits to be rendered.
    Preparing,
    /// A worker is rendering the entry.
    Rendering {
        /// Identifies the worker.
        claim: Uuid,
        /// When rendering began.
        started_at: Millis,
    },
    /// Rendering failed, for example because the sources have an error, the theme does not exist or
    /// the email is too large. Editing the content starts rendering again.
    RenderError {
        /// When rendering began.
        started_at: Millis,
        /// When rendering failed.
        at: Millis,
        /// Why rendering failed.
        message: String,
    },
    /// The entry is rendered and waits for its scheduled time or the next attempt to send.
    Scheduled,
    /// The entry waits to be sent.
    Queued,
    /// A worker is sending the email.
    Sending {
        /// Identifies the worker.
        claim: Uuid,
        /// When sending began, which also identifies the attempt.
        started_at: Millis,
    },
    /// Sending failed permanently or in all permitted attempts, the mail service did not accept any
    /// email for a day, or the outcome is unknown.
    ServerError {
        /// When the last attempt began.
        started_at: Millis,
        /// When sending failed or was given up.
        at: Millis,
        /// A description of the error, as in the last [`SendError`].
        message: String,
    },
    /// The email will not be sent.
    Skipped {
        /// When the email was skipped.
        at: Millis,
        /// Why the email is not sent.
        reason: SkippedReason,
        /// When rendering began; absent if rendering did not begin. May also be absent if rendering
        /// was completed, because [`RenderedEmail`] contains that time too.
        #[serde(default)]
        started_rendering_at: Option<Millis>,
        /// When the last attempt to send began, if the entry was skipped during the attempt or
        /// cancelled in the stage [`Self::ServerError`].
        started_sending_at: Option<Millis>,
    },
    /// The mail service accepted the email; `reports` contains events since then.
    Sent {
        /// When sending began.
        started_at: Millis,
        /// When the worker learned that the mail service accepted the email. If a report arrived
        /// first, the time of the reported event.
        at: Millis,
        /// The mail service's reports on the email.
        #[serde(default, skip_serializing_if = "Reports::is_empty")]
        reports: Reports,
        /// Whether the mail service sends reports on this email.
        #[serde(default)]
        is_reported_on: bool,
    },
}

/// Why an email was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SkippedReason {
    /// The user has unsubscribed from the email's category.
    UserUnsubscribed,
    /// The user no longer exists.
    UserAccountDeleted,
    /// The user does not have a primary address.
    UserHasNoPrimaryEmail,
    /// The entry does not have a recipient.
    NoEmailProvided,
    /// The address is known to bounce. Published SDKs include this reason, but this service does
    /// not use it.
    LikelyNotDeliverable,
    /// A caller cancelled the email.
    ManuallyCancelled,
    /// The code in the email expired before the email could be sent.
    CodeExpired,
    /// The recipient gets no further notices for now, as the last notice said.
    NoticesFolded,
}

/// The result of rendering an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedEmail {
    /// When rendering began, in milliseconds since the Unix epoch.
    pub started_at: Millis,
    /// When rendering ended, in milliseconds since the Unix epoch.
    pub at: Millis,
    /// The subject line.
    pub subject: String,
    /// The HTML body. Absent in the table, which stores the body separately, except in an entry
    /// from an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::text::packed")]
    pub html: Option<String>,
    /// The text body; absent in the same cases as the HTML body.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::text::packed")]
    pub text: Option<String>,
    /// Where the recipient can unsubscribe from the email's category. Absent if emails of the
    /// category do not have such a link or the email is not for a user; removed once the email has
    /// been sent, skipped or given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsubscribe_url: Option<String>,
    /// The expiry and size of the bodies, once they are stored separately. See
    /// [`crate::outbox::body`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptBodies>,
}

/// One failed attempt to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendError {
    /// When the attempt failed, in milliseconds since the Unix epoch.
    pub at: Millis,
    /// The class of the error, on which API callers may rely, such as `TEMPORARY`.
    pub class: String,
    /// A description of the error; includes the mail server's text if a mail server refused the
    /// email.
    pub message: String,
    /// The cause: the mail service's response, or the error that occurred instead of a response;
    /// empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cause: String,
}

impl SendError {
    /// The class of a temporary refusal: the mail service currently does not accept any emails.
    pub const NOT_NOW: &str = "NOT_NOW";

    /// An error of this class, without a cause.
    pub fn new(now: Timestamp, class: &str, message: impl Into<String>) -> Self {
        Self { at: now.as_millisecond(), class: class.to_owned(), message: message.into(), cause: String::new() }
    }

    /// An error after which the outcome is unknown: the email may have been sent.
    pub fn unknown(now: Timestamp, message: impl Into<String>) -> Self {
        Self::new(now, "UNKNOWN", message)
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(self, cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), ..self }
    }
}
