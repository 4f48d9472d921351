//! The inbox: where the gateway's emails go instead of SES.
//!
//! Emails are rows of a `SQLite` database of their own ([`table`]), committed before the sender is told that the email is out. So an email
//! that the outbox calls sent is in the inbox after a crash, and a start can ask the inbox what became of an email whose sender was
//! killed. With `--memory` the database is in memory.

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
use model::outbox::Failure;
use model::outbox::work::Outcome;
use table::Table;
use wire::clock::{Clock, Millis};
use wire::id::EmailId;

pub use self::message::{Error, Found, KEPT, Message, Query};
use crate::damage;

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
