//! The inbox: where the gateway's emails go instead of SES.
//!
//! Emails are rows of a `SQLite` database of their own ([`table`]), committed before the sender is told that the email is out. So an email
//! that the outbox calls sent is in the inbox after a crash, and a start can ask the inbox what became of an email whose sender was
//! killed. With `--memory` the database is in memory.

pub mod api;
mod lines;
mod table;

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use email::send::{Mail, Mailer};
use jiff::Timestamp;
use model::outbox::Failure;
use model::outbox::work::Outcome;
use serde::Serialize;
use table::Table;
use wire::clock::{Clock, Millis};
use wire::id::EmailId;

use crate::damage::{self, Damage};

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

/// The sink of all emails of a gateway. Cheap to clone.
#[derive(Clone)]
pub struct Inbox {
    table: Arc<Mutex<Table>>,
    clock: Clock,
}

impl Inbox {
    /// An inbox in a file, or in memory.
    pub fn open(file: Option<&Path>, clock: Clock) -> Result<Self, Error> {
        if let Some(file) = file {
            damage::examine(file)?;
        }
        let table = file.map_or_else(Table::memory, Table::open)?;
        Ok(Self { table: Arc::new(Mutex::new(table)), clock })
    }

    /// Takes over the emails that an older version kept as lines of files in this folder, and removes the folder.
    pub fn take_over(&self, folder: &Path) -> Result<(), Error> {
        let messages = lines::read(folder)?;
        if !messages.is_empty() {
            self.lock().insert_all(&messages)?;
        }
        lines::remove(folder)?;
        Ok(())
    }

    pub fn find(&self, query: &Query) -> Result<Found, Error> {
        self.lock().find(query)
    }

    /// All emails to an address, or to all, newest first; for tests.
    pub fn messages(&self, to: Option<&str>) -> Vec<Message> {
        let query = Query { to: to.map(str::to_owned), limit: KEPT, bodies: true, ..Query::default() };
        match self.find(&query) {
            Ok(found) => found.items,
            Err(error) => {
                tracing::error!(%error, "the inbox cannot be read");
                Vec::new()
            }
        }
    }

    /// One email with its bodies.
    pub fn message(&self, id: &str) -> Result<Message, Error> {
        self.lock().message(id)
    }

    /// An email as a message (RFC 5322).
    pub fn source(&self, id: &str) -> Result<String, Error> {
        self.lock().source(id)
    }

    pub fn mark(&self, id: &str, read: bool) -> Result<Message, Error> {
        let table = self.lock();
        table.mark(id, read)?;
        table.message(id)
    }

    pub fn delete(&self, id: &str) -> Result<(), Error> {
        self.lock().delete(id)
    }

    /// Deletes all emails.
    pub fn clear(&self) -> Result<(), Error> {
        self.lock().clear()
    }

    /// Whether an attempt to send an email arrived here.
    pub fn has(&self, id: EmailId, attempt: Millis) -> Result<bool, Error> {
        self.lock().has(&message_id(id, attempt))
    }

    fn deliver(&self, mail: &Mail) -> Result<(), Error> {
        self.lock().insert(mail, self.clock.now())
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The id of what an attempt to send an email leaves in the inbox.
fn message_id(id: EmailId, attempt: Millis) -> String {
    format!("{id}-{attempt}")
}

impl Mailer for Inbox {
    fn send<'a>(&'a self, mail: &'a Mail) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(async move {
            // Somebody may be searching the inbox meanwhile.
            let (inbox, mail) = (self.clone(), mail.clone());
            let delivered = tokio::task::spawn_blocking(move || inbox.deliver(&mail).map_err(|error| error.to_string()));
            match delivered.await.map_err(|error| error.to_string()).flatten() {
                Ok(()) => Outcome::Sent { is_reported_on: false },
                Err(error) => {
                    let failure = Failure::new(self.clock.now(), "TEMPORARY", "the inbox cannot be written");
                    Outcome::Retryable(failure.because(error))
                }
            }
        })
    }
}

#[cfg(test)]
mod tests;
