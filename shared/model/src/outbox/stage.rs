//! Where an email stands.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::clock::Millis;

use crate::outbox::kept::Kept;
use crate::outbox::reports::Reports;

/// Where an entry is on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Stage {
    Preparing,
    /// A worker renders it; `claim` is that worker's.
    Rendering {
        claim: Uuid,
        started_at: Millis,
    },
    RenderError {
        started_at: Millis,
        at: Millis,
        message: String,
    },
    Scheduled,
    Queued,
    /// A worker sends it; `claim` is that worker's.
    Sending {
        claim: Uuid,
        started_at: Millis,
    },
    ServerError {
        started_at: Millis,
        at: Millis,
        message: String,
    },
    Skipped {
        at: Millis,
        reason: SkippedReason,
        /// Of an entry that was never rendered to its end.
        #[serde(default)]
        started_rendering_at: Option<Millis>,
        started_sending_at: Option<Millis>,
    },
    /// The mail service took it; `reports` has what became of it then.
    Sent {
        started_at: Millis,
        at: Millis,
        #[serde(default, skip_serializing_if = "Reports::is_empty")]
        reports: Reports,
        /// Whether the mail service reports at all.
        #[serde(default)]
        is_reported_on: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SkippedReason {
    UserUnsubscribed,
    UserAccountDeleted,
    UserHasNoPrimaryEmail,
    NoEmailProvided,
    LikelyNotDeliverable,
    ManuallyCancelled,
    /// Its code expired before it could be sent.
    CodeExpired,
}

/// The mail that a source became.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    pub started_at: Millis,
    pub at: Millis,
    pub subject: String,
    #[serde(default, with = "crate::text::packed")]
    pub html: Option<String>,
    #[serde(default, with = "crate::text::packed")]
    pub text: Option<String>,
    /// Where its recipient refuses mails of its kind, if that is possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsubscribe_url: Option<String>,
    /// Of a mail that has ended: where its bodies are. See [`outbox_body`](crate::outbox::body).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
}

/// One failed attempt to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub at: Millis,
    /// A class that users of the API may rely on, such as `TEMPORARY`.
    pub class: String,
    /// What failed, in our words.
    pub message: String,
    /// What the mail service said, in its words; empty where it said nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cause: String,
}

impl Failure {
    pub fn new(now: Timestamp, class: &str, message: impl Into<String>) -> Self {
        Self { at: now.as_millisecond(), class: class.to_owned(), message: message.into(), cause: String::new() }
    }

    /// Of an attempt after which nobody knows whether the mail went out.
    pub fn unknown(now: Timestamp, message: impl Into<String>) -> Self {
        Self::new(now, "UNKNOWN", message)
    }

    #[must_use]
    pub fn because(self, cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), ..self }
    }
}
