//! The inbox: where the gateway's mails go in place of SES.
//!
//! Mails are files of JSON in the data folder, written before the sender is told that the mail is out, so that what the outbox calls sent
//! is there after a crash. Memory has of each mail what it is found by; `--memory` keeps all of it there.

use std::collections::VecDeque;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shared::clock::Clock;
use shared::mail::send::{Mail, Mailer};
use shared::model::outbox::Failure;
use shared::model::outbox_work::Outcome;

/// How many mails the inbox keeps; the oldest go first.
pub const KEPT: usize = 10_000;

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

/// What memory has of a mail.
#[derive(Deserialize)]
struct Known {
    id: String,
    to: Vec<String>,
    sent_at_millis: i64,
    /// The mail itself, where there is no folder.
    #[serde(skip)]
    message: Option<Message>,
}

/// The sink of all mails of a gateway. Cheap to clone.
#[derive(Clone)]
pub struct Inbox {
    mails: Arc<Mutex<VecDeque<Known>>>,
    folder: Option<PathBuf>,
    clock: Clock,
}

impl Inbox {
    /// An inbox in a folder, or in memory.
    pub fn open(folder: Option<PathBuf>, clock: Clock) -> std::io::Result<Self> {
        let mut mails: Vec<Known> = Vec::new();
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder)?;
            for entry in std::fs::read_dir(folder)? {
                // A file that a crash left half written was never answered for.
                mails.extend(read(&entry?.path()));
            }
        }
        mails.sort_by_key(|mail| mail.sent_at_millis);
        Ok(Self { mails: Arc::new(Mutex::new(mails.into())), folder, clock })
    }

    /// The newest mails to an address, or to all, newest first.
    pub fn messages(&self, to: Option<&str>, limit: usize) -> Vec<Message> {
        let wanted = |mail: &&Known| to.is_none_or(|to| mail.to.iter().any(|address| address.eq_ignore_ascii_case(to.trim())));
        let found: Vec<(String, Option<Message>)> = {
            let mails = self.mails.lock().unwrap_or_else(PoisonError::into_inner);
            mails.iter().rev().filter(wanted).take(limit).map(|mail| (mail.id.clone(), mail.message.clone())).collect()
        };
        found.into_iter().filter_map(|(id, message)| message.or_else(|| read(&self.file(&id)?))).collect()
    }

    /// Throws all mails away.
    pub fn clear(&self) -> std::io::Result<()> {
        let mut mails = self.mails.lock().unwrap_or_else(PoisonError::into_inner);
        for mail in mails.drain(..) {
            self.remove_file(&mail.id)?;
        }
        Ok(())
    }

    fn file(&self, id: &str) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(format!("{id}.json")))
    }

    fn remove_file(&self, id: &str) -> std::io::Result<()> {
        let Some(file) = self.file(id) else { return Ok(()) };
        match std::fs::remove_file(file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn deliver(&self, mail: &Mail) -> std::io::Result<()> {
        let message = Message {
            // An attempt of its own: a mail that came twice would be seen twice.
            id: format!("{}-{}", mail.id, mail.attempt),
            to: mail.to.iter().map(ToString::to_string).collect(),
            from: mail.from.clone(),
            subject: mail.subject.clone(),
            text: mail.text.clone().unwrap_or_default(),
            html: mail.html.clone().unwrap_or_default(),
            sent_at_millis: self.clock.now().as_millisecond(),
            outbox_id: mail.id.to_string(),
        };
        let file = self.file(&message.id);
        if let Some(file) = &file {
            std::fs::write(file, serde_json::to_vec(&message)?)?;
        }
        let (id, to, sent_at_millis) = (message.id.clone(), message.to.clone(), message.sent_at_millis);
        let mut mails = self.mails.lock().unwrap_or_else(PoisonError::into_inner);
        mails.push_back(Known { id, to, sent_at_millis, message: file.is_none().then_some(message) });
        while mails.len() > KEPT {
            if let Some(oldest) = mails.pop_front() {
                self.remove_file(&oldest.id)?;
            }
        }
        Ok(())
    }
}

fn read<T: DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
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
