//! Sending through a project's own mail server (RFC 5321, RFC 6409).
//!
//! No part of the message is sent before the server's reply to DATA, so failures up to then may be
//! retried. After the first byte of the message, the server may have accepted the email: unless the
//! server answers, the outcome is unknown and final.
//!
//! A project's administrators choose the server, so it is trusted with the project's own emails and
//! nothing else. It must have a public IP address ([`public_address`]) and prove its name with a
//! certificate before it sees a password or an email; only if private addresses are allowed, as on
//! a developer's machine, may its address be private, and a server on the same machine may lack
//! TLS. The time that it may take and the size of its replies are bounded. A server that cannot be
//! reached, or does not answer in time, gets no connections for 20 seconds, so that it occupies the
//! worker less.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lettre::address::Envelope;
use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail as MailFrom, Rcpt, Starttls};
use lettre::transport::smtp::extension::{ClientId, Extension};
use model::outbox::Failure;
use model::outbox::work::Outcome;
use net::public_address::{self, NotPublic};
use net::tls;
use rustls::RootCertStore;
use rustls::pki_types::ServerName;
use secrecy::ExposeSecret as _;
use settings::Settings;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::{Host, Url};
use wire::clock::Clock;
use wire::environment::Error;
use wire::id::ProjectId;

use crate::mime::Composer;
use crate::roots;
use crate::send::{Mail, Mailer, Server};
use crate::smtp_wire::Wire;

/// Ports where TLS begins with the first byte (RFC 8314 §3.3); 2465 is for networks that block 465.
const TLS_PORTS: [u16; 2] = [465, 2465];
/// How long a server may take to become ready for a message, and as long again to accept the
/// message. Both together are less than the time that a worker reserves for its last email.
const PATIENCE: Duration = Duration::from_secs(11);
/// How long to wait for the reply to QUIT.
const GOODBYE: Duration = Duration::from_secs(1);
/// The maximum number of connections that this process has open to the mail server of one project.
pub const CONNECTIONS: usize = 5;
/// How long no connections are made to a server that was unreachable or did not answer in time.
const REST: Duration = Duration::from_secs(20);

/// Sends through the server that an email names.
pub struct Smtp {
    /// Created at the first use: loading certificates is slow, and most projects use the mail
    /// server of the deployment.
    tls: LazyLock<TlsConnector, Box<dyn FnOnce() -> TlsConnector + Send>>,
    allow_private: bool,
    patience: Duration,
    hello: ClientId,
    composer: Composer,
    clock: Clock,
    /// By project, host and port: projects with the same host do not delay each other.
    lanes: Mutex<HashMap<(ProjectId, String, u16), Arc<Lane>>>,
}

/// The connections to the server of one project, shared by all of the project's emails.
struct Lane {
    slots: Semaphore,
    rests_until: Mutex<Option<Instant>>,
}

/// The step of a conversation that failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Greeting,
    Login,
    Envelope,
}

impl Smtp {
    /// The sender for a Lambda function. Instead of linking a set of certificates, which would make
    /// the function a thirtieth larger, it trusts those of the system, of which the Lambda runtimes
    /// include a file, and those of the operator.
    pub fn from_env(settings: &Settings, clock: Clock) -> Result<Self, Error> {
        Self::trusting(settings, roots::of_system, clock)
    }

    /// A sender that trusts the certificates of `public` and those of the operator
    /// (`SSL_CERT_FILE`).
    pub fn trusting(settings: &Settings, public: impl FnOnce() -> RootCertStore + Send + 'static, clock: Clock) -> Result<Self, Error> {
        let mut operators = RootCertStore::empty();
        tls::trust_operator(&mut operators)?;
        let roots = move || {
            operators.extend(public().roots);
            operators
        };
        Ok(Self::with(settings, roots, PATIENCE, clock))
    }

    /// A sender that trusts only `roots` and waits up to `patience` for a server to be ready, and
    /// as long again for it to accept the message.
    pub fn new(settings: &Settings, roots: RootCertStore, patience: Duration, clock: Clock) -> Self {
        Self::with(settings, || roots, patience, clock)
    }

    fn with(settings: &Settings, roots: impl FnOnce() -> RootCertStore + Send + 'static, patience: Duration, clock: Clock) -> Self {
        let tls = move || TlsConnector::from(Arc::new(tls::client(roots())));
        let host = Url::parse(&settings.api_url).ok().and_then(|url| url.host().map(|host| host.to_owned()));
        let hello = match &host {
            Some(Host::Domain(name)) => ClientId::Domain(name.clone()),
            Some(Host::Ipv4(address)) => ClientId::Ipv4(*address),
            Some(Host::Ipv6(address)) => ClientId::Ipv6(*address),
            None => ClientId::default(),
        };
        Self {
            tls: LazyLock::new(Box::new(tls)),
            allow_private: settings.allow_private_issuers,
            patience,
            hello,
            composer: Composer::new(host.map(|host| host.to_string())),
            clock,
            lanes: Mutex::default(),
        }
    }

    /// Makes one attempt to send an email through this server.
    pub async fn try_send(&self, mail: &Mail, server: &Server) -> Outcome {
        let Some(message) = self.composer.compose(mail, self.clock.now()) else {
            return self.lost("REJECTED", "the email cannot be sent: an address or a header is invalid");
        };
        let lane = self.lane(mail, server);
        let postponed =
            || self.again("TEMPORARY", "the mail server recently was unreachable or did not answer, so this attempt was postponed");
        if lane.rests() {
            return postponed();
        }
        let deadline = Instant::now() + self.patience;
        let Ok(Ok(_slot)) = timeout_at(deadline, lane.slots.acquire()).await else {
            return self.again("TIMEOUT", "the mail server is busy with earlier emails");
        };
        if lane.rests() {
            return postponed();
        }
        let began = Instant::now();
        let mut connection = match timeout_at(deadline, self.ready(mail, server, &message.envelope)).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(outcome)) => return outcome,
            Err(_) => {
                // After a long wait for the slot, even a healthy server has too little time.
                if began.elapsed() >= self.patience / 2 {
                    lane.rest();
                }
                return self.again("TIMEOUT", "the mail server did not answer in time");
            }
        };
        let outcome = match timeout(self.patience, connection.message(&message.bytes)).await {
            Ok(Ok(_)) => Outcome::Sent { is_reported_on: false },
            Ok(Err(error)) if error.status().is_some() => self.refused(&error, Step::Envelope, server),
            Ok(Err(error)) => self.unknown().because(told(&error, server)),
            Err(_) => {
                lane.rest();
                self.unknown()
            }
        };
        let _ = timeout(GOODBYE, connection.quit()).await;
        outcome
    }

    /// Opens a connection and takes it to the point where the server expects the message.
    async fn ready(&self, mail: &Mail, server: &Server, envelope: &Envelope) -> Result<AsyncSmtpConnection, Outcome> {
        let stream = self.connect(mail, server).await?;
        let mut connection = self.secured(stream, server).await?;
        if let Some((username, password)) = &server.login {
            let credentials = Credentials::new(username.clone(), password.expose_secret().to_owned());
            let done = connection.auth(&[Mechanism::Plain, Mechanism::Login], &credentials).await;
            done.map_err(|error| self.refused(&error, Step::Login, server))?;
        }
        let refused = |error: SmtpError| self.refused(&error, Step::Envelope, server);
        connection.command(MailFrom::new(envelope.from().cloned(), Vec::new())).await.map_err(refused)?;
        for to in envelope.to() {
            connection.command(Rcpt::new(to.clone(), Vec::new())).await.map_err(refused)?;
        }
        connection.command(Data).await.map_err(refused)?;
        tracing::debug!(id = %mail.id, "a mail server is ready for an email");
        Ok(connection)
    }

    async fn connect(&self, mail: &Mail, server: &Server) -> Result<TcpStream, Outcome> {
        let addresses = public_address::resolve(server.host.trim_matches(['[', ']']), server.port, self.allow_private).await;
        let addresses = addresses.map_err(|error| {
            let message =
                if error.is::<NotPublic>() { "the mail server has no public address" } else { "the mail server's name does not resolve" };
            self.lost("HOST_NOT_FOUND", message).because(error.to_string())
        })?;
        let unreachable = |error: std::io::Error| {
            self.lane(mail, server).rest();
            self.again("TEMPORARY", "the mail server cannot be reached").because(error.to_string())
        };
        TcpStream::connect(&*addresses).await.map_err(unreachable)
    }

    /// An encrypted connection; plain text only to a server on this machine, and only if private
    /// IP addresses are allowed.
    async fn secured(&self, stream: TcpStream, server: &Server) -> Result<AsyncSmtpConnection, Outcome> {
        let closed = |error: std::io::Error| self.lost("SOCKET_CLOSED", "the mail server closed the connection").because(error.to_string());
        let refused = |error: SmtpError| self.refused(&error, Step::Greeting, server);
        let peer = stream.peer_addr().map_err(closed)?;
        if TLS_PORTS.contains(&server.port) {
            let wire = Wire::new(self.encrypted(stream, server).await?, peer);
            return AsyncSmtpConnection::connect_with_transport(Box::new(wire), &self.hello).await.map_err(refused);
        }
        // After STARTTLS the conversation starts over with a new buffer, so a line that an attacker
        // injected in clear text after the answer to STARTTLS is discarded.
        let stream = stream.into_std().map_err(closed)?;
        let same = TcpStream::from_std(stream.try_clone().map_err(closed)?).map_err(closed)?;
        let wire = Wire::new(TcpStream::from_std(stream).map_err(closed)?, peer);
        let mut connection = AsyncSmtpConnection::connect_with_transport(Box::new(wire), &self.hello).await.map_err(refused)?;
        if !connection.server_info().supports_feature(Extension::StartTls) {
            let is_here = self.allow_private && peer.ip().is_loopback();
            return if is_here { Ok(connection) } else { Err(self.lost("UNKNOWN", "the mail server does not offer TLS (STARTTLS)")) };
        }
        connection.command(Starttls).await.map_err(refused)?;
        drop(connection);
        let wire = Wire::greeted(self.encrypted(same, server).await?, peer);
        AsyncSmtpConnection::connect_with_transport(Box::new(wire), &self.hello).await.map_err(refused)
    }

    async fn encrypted(&self, stream: TcpStream, server: &Server) -> Result<TlsStream<TcpStream>, Outcome> {
        let name = match Host::parse(&server.host) {
            Ok(Host::Domain(name)) => ServerName::try_from(name).ok(),
            Ok(Host::Ipv4(address)) => Some(ServerName::from(IpAddr::V4(address))),
            Ok(Host::Ipv6(address)) => Some(ServerName::from(IpAddr::V6(address))),
            Err(_) => None,
        };
        let name =
            name.ok_or_else(|| self.lost("HOST_NOT_FOUND", "the mail server's host is not a name that a certificate can be issued for"))?;
        self.tls.connect(name, stream).await.map_err(|error| {
            let outcome = match error.kind() {
                ErrorKind::InvalidData => self.lost("UNKNOWN", "TLS failed or the mail server's certificate is invalid; nothing was sent"),
                _ => self.lost("SOCKET_CLOSED", "the mail server closed the connection"),
            };
            outcome.because(error.to_string())
        })
    }

    /// Maps a refusal or, before the message, a connection that closed or an invalid reply, to one
    /// of the outbox's failure classes.
    fn refused(&self, error: &SmtpError, step: Step, server: &Server) -> Outcome {
        let code = error.status().map(u16::from);
        let outcome = match code {
            Some(450) => self.again("TEMPORARY", "the mail server accepts no emails for this address at the moment"),
            Some(400..500) => self.again("TRANSIENT_NEGATIVE_COMPLETION_REPLY", "the mail server accepts no emails at the moment"),
            Some(530 | 534 | 535 | 538) => {
                self.lost("AUTH_FAILED", "the mail server requires a login, rejected it or does not allow this user to send")
            }
            _ if step == Step::Login && (code.is_some() || error.is_client()) => {
                self.lost("AUTH_FAILED", "the mail server rejected the login, or offers neither PLAIN nor LOGIN")
            }
            Some(553) => self.lost("INVALID_EMAIL_ADDRESS", "the mail server rejected an address as invalid"),
            Some(_) => self.lost("REJECTED", "the mail server refused the email"),
            None => self.lost("SOCKET_CLOSED", "the mail server closed the connection or sent an invalid reply"),
        };
        outcome.because(told(error, server))
    }

    fn lane(&self, mail: &Mail, server: &Server) -> Arc<Lane> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.retain(|_, lane| Arc::strong_count(lane) > 1 || lane.rests());
        let lane = lanes.entry((mail.project.clone(), server.host.clone(), server.port));
        Arc::clone(lane.or_insert_with(|| Arc::new(Lane { slots: Semaphore::new(CONNECTIONS), rests_until: Mutex::default() })))
    }

    fn unknown(&self) -> Outcome {
        let message = "the mail server did not confirm the email: it may or may not have been sent";
        Outcome::Final(Failure::unknown(self.clock.now(), message))
    }

    fn lost(&self, class: &str, message: &str) -> Outcome {
        Outcome::Final(Failure::new(self.clock.now(), class, message))
    }

    fn again(&self, class: &str, message: &str) -> Outcome {
        Outcome::Retryable(Failure::new(self.clock.now(), class, message))
    }
}

impl Lane {
    fn rest(&self) {
        *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + REST);
    }

    fn rests(&self) -> bool {
        self.rests_until.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|until| Instant::now() < until)
    }
}

/// The text of an error, without the password, which the server's reply may repeat.
fn told(error: &SmtpError, server: &Server) -> String {
    let mut text = error.to_string();
    if let Some((username, password)) = &server.login {
        let password = password.expose_secret();
        for secret in [password.to_owned(), STANDARD.encode(password), STANDARD.encode(format!("\0{username}\0{password}"))] {
            text = text.replace(&secret, "…");
        }
    }
    text
}

/// Sends an email through its project's own server, or through the deployment's sender if the
/// project has none.
pub struct ByProject<M> {
    /// For emails of projects with a server of their own.
    pub own: Smtp,
    /// For all other emails.
    pub deployments: M,
}

impl<M: Mailer> Mailer for ByProject<M> {
    fn send<'a>(&'a self, mail: &'a Mail) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        match &mail.server {
            Some(server) => Box::pin(self.own.try_send(mail, server)),
            None => self.deployments.send(mail),
        }
    }

    fn is_refused(&self) -> bool {
        self.deployments.is_refused()
    }
}
