//! Emails of the inbox, how they are asked for, and what may go wrong.

use jiff::Timestamp;
use serde::Serialize;
use wire::clock::Millis;
use wire::id::EmailId;

use crate::damage::Damage;

/// How many emails the inbox keeps; the oldest go first.
pub const KEPT: usize = 10_000;

/// An email that was delivered to the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Its own for each attempt to send: an email that came twice would be seen twice.
    pub id: String,
    pub outbox_id: String,
    /// Absent for emails that were received before the inbox knew projects.
    pub project_id: Option<String>,
    pub to: Vec<String>,
    pub from: String,
    pub subject: String,
    pub at: Timestamp,
    pub sent_at_millis: i64,
    pub read: bool,
    /// Empty where a list was asked for without bodies.
    pub text: String,
    pub html: String,
}

/// Which emails are listed; an empty query lists all.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// One of the recipients, whatever its case.
    pub to: Option<String>,
    /// Part of the subject, the sender, a recipient, the text or an id, whatever its case.
    pub q: Option<String>,
    pub project: Option<String>,
    /// Only emails older than the one with this id.
    pub before: Option<String>,
    pub limit: usize,
    /// Whether the emails come with text and HTML.
    pub bodies: bool,
}

/// A page of emails, and how many there are on all pages.
#[derive(Debug, Serialize)]
pub struct Found {
    /// Newest first.
    pub items: Vec<Message>,
    pub total: usize,
    pub unread: usize,
    /// Whether there are older ones than the last item.
    pub has_more: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no email {0} in the inbox")]
    NotFound(String),
    #[error("the email {0} cannot be written as a message")]
    NoSource(String),
    #[error(transparent)]
    Damaged(#[from] Damage),
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    File(#[from] std::io::Error),
    #[error("a list of recipients is damaged: {0}")]
    Recipients(#[from] serde_json::Error),
}

/// The id of what an attempt to send an email leaves in the inbox.
pub(super) fn message_id(id: EmailId, attempt: Millis) -> String {
    format!("{id}-{attempt}")
}
