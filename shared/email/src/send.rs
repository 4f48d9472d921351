//! What a sender is. SES is one, the gateway's inbox another, and the mail server of a project the third.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use model::email::Email;
use model::outbox::work::Outcome;
use secrecy::SecretString;
use wire::clock::Millis;
use wire::id::{EmailId, ProjectId};

use crate::render::quoted_name;

/// A mail that is ready to go.
#[derive(Debug, Clone)]
pub struct Mail {
    /// The entry of the outbox that it is.
    pub id: EmailId,
    pub project: ProjectId,
    /// Which attempt at it this is: when sending began, in milliseconds since the epoch. Reports on the mail name it.
    pub attempt: Millis,
    pub from: Sender,
    pub to: Vec<Email>,
    pub subject: String,
    pub html: Option<String>,
    pub text: Option<String>,
    /// Where a POST, without cookies and without asking, takes the recipient off the list (RFC 8058).
    pub unsubscribe: Option<String>,
    /// The project's own mail server, by which it goes then.
    pub server: Option<Server>,
}

impl Mail {
    /// The headers that it has besides those of every mail.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, String)> {
        // RFC 8058: one click in the mail client, without a page.
        let url = self.unsubscribe.as_ref();
        let headers =
            url.map(|url| [("List-Unsubscribe", format!("<{url}>")), ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned())]);
        headers.into_iter().flatten()
    }
}

/// Whom a mail is from.
#[derive(Debug, Clone)]
pub struct Sender {
    pub name: String,
    pub address: String,
}

impl fmt::Display for Sender {
    /// `"Name" <address>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}>", quoted_name(&self.name), self.address)
    }
}

/// A mail server that can be connected to.
#[derive(Debug, Clone)]
pub struct Server {
    pub host: String,
    pub port: u16,
    /// Username and password.
    pub login: Option<(String, SecretString)>,
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
