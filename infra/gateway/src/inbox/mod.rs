//! The inbox, which receives the emails that a deployment would send through SES.
//!
//! Emails are rows of a separate `SQLite` database (`table`). An email is committed to the inbox
//! before the outbox records it as sent, so every email that is reported as sent is in the inbox,
//! even after a crash. At the next start, the inbox shows whether an unfinished email was stored.
//! With `--memory`, the database is in memory.

pub mod api;
mod lines;
mod message;
mod table;

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use email::send::{Mail, Mailer};
use message::message_id;
use model::outbox::SendError;
use model::outbox::work::Outcome;
use table::Table;
use wire::clock::{Clock, Millis};
use wire::id::EmailId;

pub use self::message::{Error, KEPT, Message, MessagePage, Query};
use crate::damage;

/// Receives the emails that a deployment would send through SES. Cheap to clone.
#[derive(Clone)]
pub struct Inbox {
    table: Arc<Mutex<Table>>,
    clock: Clock,
}

impl Inbox {
    /// Opens an inbox in a file, or in memory.
    pub fn open(file: Option<&Path>, clock: Clock) -> Result<Self, Error> {
        if let Some(file) = file {
            damage::examine(file)?;
        }
        let table = file.map_or_else(Table::memory, Table::open)?;
        Ok(Self { table: Arc::new(Mutex::new(table)), clock })
    }

    /// Imports the emails that an older version stored in `folder`, and removes their files. Also
    /// removes the folder if it is then empty.
    pub fn take_over(&self, folder: &Path) -> Result<(), Error> {
        let messages = lines::read(folder)?;
        if !messages.is_empty() {
            self.lock().insert_all(&messages)?;
        }
        lines::remove(folder)?;
        Ok(())
    }

    pub fn find(&self, query: &Query) -> Result<MessagePage, Error> {
        self.lock().find(query)
    }

    /// The emails to an address, or all emails, newest first. Used by tests.
    pub fn messages(&self, to: Option<&str>) -> Vec<Message> {
        let query = Query { to: to.map(str::to_owned), limit: KEPT, bodies: true, ..Query::default() };
        match self.find(&query) {
            Ok(found) => found.items,
            Err(error) => {
                tracing::error!(%error, "cannot read the inbox");
                Vec::new()
            }
        }
    }

    /// The email with this id, including its bodies.
    pub fn message(&self, id: &str) -> Result<Message, Error> {
        self.lock().message(id)
    }

    /// The source of an email (RFC 5322).
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

    /// Whether the inbox has received the email of this attempt.
    pub fn has(&self, id: EmailId, attempt: Millis) -> Result<bool, Error> {
        self.lock().has(&message_id(id, attempt))
    }

    fn store(&self, mail: &Mail) -> Result<(), Error> {
        self.lock().insert(mail, self.clock.now())
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mailer for Inbox {
    fn send<'a>(&'a self, mail: &'a Mail) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(async move {
            // Emails are stored on a blocking thread, because a search may hold the lock.
            let (inbox, mail) = (self.clone(), mail.clone());
            let stored = tokio::task::spawn_blocking(move || inbox.store(&mail).map_err(|error| error.to_string()));
            match stored.await.map_err(|error| error.to_string()).flatten() {
                Ok(()) => Outcome::Sent { is_reported_on: false },
                Err(error) => {
                    let failure = SendError::new(self.clock.now(), "TEMPORARY", "cannot write to the inbox");
                    Outcome::Retryable(failure.because(error))
                }
            }
        })
    }
}

#[cfg(test)]
mod tests;
