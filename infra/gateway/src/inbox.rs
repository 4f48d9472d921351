//! The inbox: where the gateway's mails go in place of SES.
//!
//! Mails are files of JSON in the data folder, written before the sender is told that the mail is out, so that what the outbox calls sent
//! is there after a crash. `--memory` keeps them in memory.

use std::collections::VecDeque;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use shared::clock::Clock;
use shared::mail::send::{Mail, Mailer};
use shared::model::outbox::Failure;
use shared::model::outbox_work::Outcome;

/// How many mails the inbox keeps; the oldest go first.
const KEPT: usize = 10_000;

/// A mail that was delivered to the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: String,
    pub to: Vec<String>,
    pub from: String,
    pub subject: String,
    pub text: String,
    pub html: String,
    pub sent_at_millis: i64,
    pub outbox_id: String,
}

/// The sink of all mails of a gateway. Cheap to clone.
#[derive(Clone)]
pub struct Inbox {
    messages: Arc<Mutex<VecDeque<Message>>>,
    folder: Option<PathBuf>,
    clock: Clock,
}

impl Inbox {
    /// An inbox in a folder, or in memory.
    pub fn open(folder: Option<PathBuf>, clock: Clock) -> std::io::Result<Self> {
        let mut messages: Vec<Message> = Vec::new();
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder)?;
            for entry in std::fs::read_dir(folder)? {
                // A file that a crash left half written was never answered for.
                messages.extend(std::fs::read(entry?.path()).ok().and_then(|bytes| serde_json::from_slice::<Message>(&bytes).ok()));
            }
        }
        messages.sort_by_key(|message| message.sent_at_millis);
        Ok(Self { messages: Arc::new(Mutex::new(messages.into())), folder, clock })
    }

    /// Mails to an address, or all, newest first.
    pub fn messages(&self, to: Option<&str>) -> Vec<Message> {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = |message: &&Message| to.is_none_or(|to| message.to.iter().any(|address| address.eq_ignore_ascii_case(to.trim())));
        messages.iter().rev().filter(wanted).cloned().collect()
    }

    /// Throws all mails away.
    pub fn clear(&self) -> std::io::Result<()> {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        for message in messages.drain(..) {
            self.remove_file(&message.id)?;
        }
        Ok(())
    }

    fn remove_file(&self, id: &str) -> std::io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        match std::fs::remove_file(folder.join(format!("{id}.json"))) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn deliver(&self, mail: &Mail) -> std::io::Result<()> {
        let message = Message {
            // An attempt of its own: a mail that came twice would be seen twice.
            id: format!("{}-{}", mail.id, mail.attempt),
            to: mail.to.iter().map(ToString::to_string).collect(),
            from: mail.from.to_string(),
            subject: mail.subject.clone(),
            text: mail.text.clone().unwrap_or_default(),
            html: mail.html.clone().unwrap_or_default(),
            sent_at_millis: self.clock.now().as_millisecond(),
            outbox_id: mail.id.to_string(),
        };
        if let Some(folder) = &self.folder {
            std::fs::write(folder.join(format!("{}.json", message.id)), serde_json::to_vec(&message)?)?;
        }
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.push_back(message);
        while messages.len() > KEPT {
            if let Some(oldest) = messages.pop_front() {
                self.remove_file(&oldest.id)?;
            }
        }
        Ok(())
    }
}

impl Mailer for Inbox {
    fn send<'a>(&'a self, mail: &'a Mail) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(async move {
            match self.deliver(mail) {
                Ok(()) => Outcome::Sent { is_reported_on: false },
                Err(error) => {
                    let failure = Failure::new(self.clock.now(), "TEMPORARY", "the inbox cannot be written");
                    Outcome::Retryable(failure.because(error.to_string()))
                }
            }
        })
    }
}
