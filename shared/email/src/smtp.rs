//! Sending through a project's own mail server (RFC 5321, RFC 6409).
//!
//! Up to the answer to DATA nothing went out, so what fails by then may be tried again. From the first byte of the message on it may have:
//! unless the server answers, the outcome is unknown and final.
//!
//! A project's administrators name the server, so it is trusted with its own mails and nothing else: it is at a public address
//! ([`public_address`]), proves its name by a certificate before it sees a password or a mail, has a bounded time and says a bounded
//! amount. One that does not answer is left alone for a moment, so that it does not hold up the mails of others.

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

use crate::mime::Composer;
use crate::send::{Mail, Mailer, Server};
use crate::smtp_wire::Wire;

/// Where TLS begins with the first byte (RFC 8314 §3.3); the second is where networks that close the first are met.
const TLS_PORTS: [u16; 2] = [465, 2465];
/// How long a server may take until it is ready for a message, and as long again to take it: less than a worker keeps for its last mail.
const PATIENCE: Duration = Duration::from_secs(11);
/// How long it may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(1);
/// How many connections a server has from here at once; many take no more from a client.
const CONNECTIONS: usize = 5;
/// How long a server that did not answer is left alone.
const REST: Duration = Duration::from_secs(20);

/// Sends through the server that a mail names.
pub struct Smtp {
    /// Made for the first mail: certificates are many, and most projects have no server.
    tls: LazyLock<TlsConnector, Box<dyn FnOnce() -> TlsConnector + Send>>,
    allow_private: bool,
    patience: Duration,
    hello: ClientId,
    composer: Composer,
    clock: Clock,
    lanes: Mutex<HashMap<(String, u16), Arc<Lane>>>,
}

/// The connections to one server.
struct Lane {
    slots: Semaphore,
    rests_until: Mutex<Option<Instant>>,
}

/// What a conversation was about when it failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Greeting,
    Login,
    Envelope,
}

impl Smtp {
    /// The sender of a function, which trusts what its system trusts: to link all certificates would be a thirtieth of it.
    pub fn from_env(settings: &Settings, clock: Clock) -> Result<Self, Error> {
        Self::trusting(settings, system_roots, clock)
    }

    /// A sender that trusts the operator's certificates besides these.
    pub fn trusting(settings: &Settings, public: impl FnOnce() -> RootCertStore + Send + 'static, clock: Clock) -> Result<Self, Error> {
        let mut operators = RootCertStore::empty();
        tls::trust_operator(&mut operators)?;
        let roots = move || {
            operators.extend(public().roots);
            operators
        };
        Ok(Self::with(settings, roots, PATIENCE, clock))
    }

    /// A sender that trusts these certificates and waits so long, twice at most.
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

    async fn try_send(&self, mail: &Mail, server: &Server) -> Outcome {
        let Some(message) = self.composer.compose(mail, self.clock.now()) else {
            return self.lost("REJECTED", "the mail is not one that can be sent");
        };
        let lane = self.lane(server);
        if lane.rests() {
            return self.again("TEMPORARY", "the mail server did not answer a moment ago");
        }
        let deadline = Instant::now() + self.patience;
        let Ok(Ok(_slot)) = timeout_at(deadline, lane.slots.acquire()).await else {
            return self.again("TIMEOUT", "the mail server is busy with mails before this one");
        };
        let mut connection = match timeout_at(deadline, self.ready(mail, server, &message.envelope)).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(outcome)) => return outcome,
            Err(_) => {
                lane.rest();
                return self.again("TIMEOUT", "the mail server did not answer in time");
            }
        };
        let outcome = match timeout(self.patience, connection.message(&message.bytes)).await {
            Ok(Ok(_)) => Outcome::Sent { is_reported_on: false },
            Ok(Err(error)) if error.status().is_some() => self.refused(&error, Step::Envelope, server),
            Ok(Err(error)) => self.unknown().because(told(&error, server)),
            Err(_) => self.unknown(),
        };
        let _ = timeout(GOODBYE, connection.quit()).await;
        outcome
    }

    /// A server that waits for the message.
    async fn ready(&self, mail: &Mail, server: &Server, envelope: &Envelope) -> Result<AsyncSmtpConnection, Outcome> {
        let stream = self.connect(server).await?;
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
        tracing::debug!(id = %mail.id, "a mail server is ready for a mail");
        Ok(connection)
    }

    async fn connect(&self, server: &Server) -> Result<TcpStream, Outcome> {
        let addresses = public_address::resolve(server.host.trim_matches(['[', ']']), server.port, self.allow_private).await;
        let addresses = addresses.map_err(|error| {
            let message = if error.is::<NotPublic>() { "the mail server has no public address" } else { "there is no such mail server" };
            self.lost("HOST_NOT_FOUND", message).because(error.to_string())
        })?;
        let unreachable = |error: std::io::Error| {
            self.lane(server).rest();
            self.again("TEMPORARY", "the mail server cannot be reached").because(error.to_string())
        };
        TcpStream::connect(&*addresses).await.map_err(unreachable)
    }

    /// A conversation that nobody overhears; on this machine, where private addresses are allowed, one may go without.
    async fn secured(&self, stream: TcpStream, server: &Server) -> Result<AsyncSmtpConnection, Outcome> {
        let closed = |error: std::io::Error| self.lost("SOCKET_CLOSED", "the mail server closed the connection").because(error.to_string());
        let refused = |error: SmtpError| self.refused(&error, Step::Greeting, server);
        let peer = stream.peer_addr().map_err(closed)?;
        if TLS_PORTS.contains(&server.port) {
            let wire = Wire::new(self.encrypted(stream, server).await?, peer);
            return AsyncSmtpConnection::connect_with_transport(Box::new(wire), &self.hello).await.map_err(refused);
        }
        // STARTTLS ends one conversation and begins another, which knows nothing of what was said in clear before it: a line that somebody put
        // behind the answer to STARTTLS is gone with the first one's buffer.
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
        let name = name.ok_or_else(|| self.lost("HOST_NOT_FOUND", "the mail server has no name that a certificate can be for"))?;
        self.tls.connect(name, stream).await.map_err(|error| {
            let outcome = match error.kind() {
                ErrorKind::InvalidData => self.lost("UNKNOWN", "the mail server cannot prove who it is, so that nothing was sent"),
                _ => self.lost("SOCKET_CLOSED", "the mail server closed the connection"),
            };
            outcome.because(error.to_string())
        })
    }

    /// What it means that a server refused, or went away before the message.
    fn refused(&self, error: &SmtpError, step: Step, server: &Server) -> Outcome {
        let code = error.status().map(u16::from);
        let outcome = match code {
            Some(450) => self.again("TEMPORARY", "the mail server takes no mail for this address for now"),
            Some(400..500) => self.again("TRANSIENT_NEGATIVE_COMPLETION_REPLY", "the mail server takes no mails for now"),
            Some(530 | 534 | 535 | 538) => self.lost("AUTH_FAILED", "the mail server does not let this user send"),
            _ if step == Step::Login && (code.is_some() || error.is_client()) => {
                self.lost("AUTH_FAILED", "the mail server does not let this user send")
            }
            Some(553) => self.lost("INVALID_EMAIL_ADDRESS", "the mail server says that an address is not one"),
            Some(_) => self.lost("REJECTED", "the mail server refused the mail"),
            None => self.lost("SOCKET_CLOSED", "the mail server closed the connection"),
        };
        outcome.because(told(error, server))
    }

    fn lane(&self, server: &Server) -> Arc<Lane> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.retain(|_, lane| Arc::strong_count(lane) > 1 || lane.rests());
        let lane = lanes.entry((server.host.clone(), server.port));
        Arc::clone(lane.or_insert_with(|| Arc::new(Lane { slots: Semaphore::new(CONNECTIONS), rests_until: Mutex::default() })))
    }

    fn unknown(&self) -> Outcome {
        let message = "the mail server did not say whether it took the mail: it may have gone out";
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

/// The certificates of the system, of which every one that Lambda runs functions on has a file.
fn system_roots() -> RootCertStore {
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "certificates of the system cannot be read");
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    roots
}

/// What a server said, without the password, should it say that.
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

/// Sends a mail through its project's own server, and one of a project without by the deployment's sender.
pub struct ByProject<M> {
    pub own: Smtp,
    pub deployments: M,
}

impl<M: Mailer> Mailer for ByProject<M> {
    fn send<'a>(&'a self, mail: &'a Mail) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        match &mail.server {
            Some(server) => Box::pin(self.own.try_send(mail, server)),
            None => self.deployments.send(mail),
        }
    }
}
