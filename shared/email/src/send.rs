//! Types shared by the three senders of emails: SES, the gateway's inbox, and a project's own mail
//! server.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crypto::seal::{self, Sealer};
use model::email::Email;
use model::outbox::work::Outcome;
use model::project::mail_server::{Login, MailServer};
use secrecy::SecretString;
use wire::clock::Millis;
use wire::id::{EmailId, ProjectId};

use crate::render::quoted_name;

/// An email, ready to be sent.
#[derive(Debug, Clone)]
pub struct Mail {
    /// The id of the email's entry in the outbox.
    pub id: EmailId,
    /// The project that sends the email.
    pub project: ProjectId,
    /// Identifies the attempt by the time when it began, in milliseconds since the Unix epoch.
    /// Delivery reports repeat this number.
    pub attempt: Millis,
    /// The sender, as in the header `From`.
    pub from: Sender,
    /// The recipients, as in the header `To`; at least one.
    pub to: Vec<Email>,
    /// The subject: one line.
    pub subject: String,
    /// The HTML part, if the email has one.
    pub html: Option<String>,
    /// The plain-text part, if the email has one.
    pub text: Option<String>,
    /// The URL that unsubscribes the recipient on a POST request without cookies or a confirmation
    /// (RFC 8058); absent if the recipient cannot unsubscribe.
    pub unsubscribe: Option<String>,
    /// Whether this is one of the service's own emails, which should not trigger automatic replies
    /// such as out-of-office notices.
    pub is_automatic: bool,
    /// The project's own mail server; absent when the deployment sends the email.
    pub server: Option<Server>,
}

impl Mail {
    /// The headers that only some emails have.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, String)> {
        // RFC 3834 §5: autoresponders do not reply to emails with this header.
        let automatic = self.is_automatic.then(|| ("Auto-Submitted", "auto-generated".to_owned()));
        // RFC 8058: unsubscribing takes one click in the email client, without a page.
        let url = self.unsubscribe.as_ref();
        let unsubscribe =
            url.map(|url| [("List-Unsubscribe", format!("<{url}>")), ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned())]);
        automatic.into_iter().chain(unsubscribe.into_iter().flatten())
    }
}

/// The sender of an email.
#[derive(Debug, Clone)]
pub struct Sender {
    /// The display name, unquoted.
    pub name: String,
    /// The email address.
    pub address: String,
}

impl fmt::Display for Sender {
    /// `"Name" <address>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}>", quoted_name(&self.name), self.address)
    }
}

/// A project's own mail server, with its password decrypted.
#[derive(Debug, Clone)]
pub struct Server {
    /// A host name or an IP address.
    pub host: String,
    /// The port. Connections to the ports 465 and 2465 begin with TLS. All other ports use
    /// STARTTLS, with one exception ([`crate::smtp`]).
    pub port: u16,
    /// The username and password; absent if the server does not require a login.
    pub login: Option<(String, SecretString)>,
}

impl Server {
    /// The mail server of `project` with its decrypted password.
    pub fn open(stored: &MailServer, project: &ProjectId, sealer: &Sealer) -> Result<Self, seal::Error> {
        let open = |login: &Login| {
            let owner = stored.password_owner(project.as_str(), &login.username);
            Ok((login.username.clone(), sealer.open(&owner, &login.password)?))
        };
        Ok(Self { host: stored.host.clone(), port: stored.port, login: stored.login.as_ref().map(open).transpose()? })
    }
}

/// Tags that match a delivery report to an entry of the outbox.
pub mod tags {
    /// Id of the entry.
    pub const ENTRY: &str = "gatelet-entry";
    /// Id of the project.
    pub const PROJECT: &str = "gatelet-project";
    /// The attempt, as in [`Mail::attempt`](super::Mail::attempt).
    pub const ATTEMPT: &str = "gatelet-attempt";
}

/// Sends emails, each at most once: if the outcome is unknown, the email is not retried.
pub trait Mailer: Send + Sync {
    /// Makes one attempt. A failure is returned as an outcome; sending never panics.
    fn send<'a>(&'a self, mail: &'a Mail) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

    /// Whether the mail service has temporarily refused one of the deployment's emails and has not
    /// accepted one since. If it has, a single email tests whether the service accepts emails
    /// again.
    fn is_refused(&self) -> bool {
        false
    }
}
