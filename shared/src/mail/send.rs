//! What a sender is. SES is one; the gateway's inbox is another.

use std::future::Future;
use std::pin::Pin;

use crate::model::email::Email;
use crate::model::id::{EmailId, ProjectId};
use crate::model::outbox::Millis;
use crate::model::outbox_work::Outcome;

/// A mail that is ready to go.
#[derive(Debug, Clone)]
pub struct Mail {
    /// The entry of the outbox that it is.
    pub id: EmailId,
    pub project: ProjectId,
    /// Which attempt at it this is: when sending began, in milliseconds since the epoch. Reports on the mail name it.
    pub attempt: Millis,
    /// `"Name" <address>`.
    pub from: String,
    pub to: Vec<Email>,
    pub subject: String,
    pub html: Option<String>,
    pub text: Option<String>,
    /// Where a POST, without cookies and without asking, takes the recipient off the list (RFC 8058).
    pub unsubscribe: Option<String>,
}

/// Tags by which what a mail service reports is found to belong to an entry.
pub mod tags {
    pub const ENTRY: &str = "gatelet-entry";
    pub const PROJECT: &str = "gatelet-project";
    pub const ATTEMPT: &str = "gatelet-attempt";
}

/// Sends mails, each once: an outcome that nobody knows is final.
pub trait Mailer: Send + Sync {
    fn send<'a>(&'a self, mail: &'a Mail) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;
}
