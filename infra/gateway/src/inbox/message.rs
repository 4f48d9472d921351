//! Types for emails in the inbox, queries for them, and errors.

use jiff::Timestamp;
use serde::Serialize;
use wire::clock::Millis;
use wire::id::EmailId;

use crate::damage::Damage;

/// The number of emails that the inbox keeps; the oldest are removed first.
pub const KEPT: usize = 10_000;

/// An email in the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// The id of the email within the inbox. Each attempt to send an email has a separate id, so an
    /// email that was sent twice appears twice.
    pub id: String,
    pub outbox_id: String,
    /// The email's project; `None` if the email was received before the inbox stored projects.
    pub project_id: Option<String>,
    pub to: Vec<String>,
    pub from: String,
    pub subject: String,
    pub at: Timestamp,
    pub sent_at_millis: i64,
    pub read: bool,
    /// The text of the email; empty if the email has no text, or in a list without bodies.
    pub text: String,
    pub html: String,
}

/// A query for emails. An empty query matches all emails.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The address of one of the recipients, ignoring case.
    pub to: Option<String>,
    /// A part of the subject, the sender, a recipient, the id, or the text (or the HTML if there is
    /// no text), ignoring case.
    pub q: Option<String>,
    pub project: Option<String>,
    /// Selects emails that are older than the email with this id.
    pub before: Option<String>,
    pub limit: usize,
    /// Whether to include the text and the HTML.
    pub bodies: bool,
}

/// A page of emails. `total` and `unread` count the emails of all pages.
#[derive(Debug, Serialize)]
pub struct MessagePage {
    /// The emails of this page, newest first.
    pub items: Vec<Message>,
    pub total: usize,
    pub unread: usize,
    /// Whether the query matches emails that are older than the last email on this page.
    pub has_more: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the inbox has no email {0}")]
    NotFound(String),
    #[error("the email {0} cannot be encoded as a message")]
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

/// The inbox id of an email that this attempt has sent.
pub(super) fn message_id(id: EmailId, attempt: Millis) -> String {
    format!("{id}-{attempt}")
}
