//! Sending through a project's own mail server (RFC 5321, RFC 6409).
//!
//! The end of the message, a line with a dot, is sent last and separately. Before that line is
//! sent, the server cannot have accepted the email. Failures up to this point are therefore retried
//! (RFC 5321 §4.5.4.1), except permanent refusals (5yz) and failures that a retry would not fix.
//! Once the first byte of the line has been sent, the server may have accepted the email. If the
//! server then does not reply, the outcome is unknown and final.
//!
//! The crate `lettre` composes the messages. The client of `lettre` is not used: it rejects replies
//! without a text, which RFC 5321 §4.2 allows, and does not report whether a connection was lost
//! before or after the end of the message.
//!
//! A project's administrators choose the server, so the server is trusted only with this project's
//! emails. The server must have a public IP address ([`net::public_address`]) and prove its name
//! with a certificate before it receives a password or an email. The operator can make two
//! exceptions. First, if private addresses are allowed, as on a developer's machine, the server's
//! address may be private, and a server on the same machine may lack TLS. Second, a mail relay of
//! the deployment ([`MailRelays`]) may have a private address, and gets emails without TLS from
//! projects that do not log in to it. The server's time and the size of its replies are limited. A
//! server that is unreachable or does not reply in time is not contacted for 20 seconds.

mod failures;
mod pool;
mod reply;
mod talk;

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use model::outbox::work::Outcome;
use net::public_address::NotPublic;
use net::{mail_server, tls};
use rustls::RootCertStore;
use rustls::pki_types::ServerName;
use settings::Settings;
use settings::mail_relays::MailRelays;
use tokio::net::TcpStream;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::{Host, Url};
use wire::clock::Clock;
use wire::environment::Error;

use self::failures::{Failures, Step};
pub use self::pool::CONNECTIONS;
use self::pool::ServerPools;
use self::talk::{Offers, Stream, Talk, TalkError};
use crate::mime::{ComposedMessage, Composer};
use crate::roots;
use crate::send::{Mail, Mailer, Server};

/// Ports where TLS begins with the first byte (RFC 8314 §3.3); 2465 is for networks that block 465.
const TLS_PORTS: [u16; 2] = [465, 2465];
/// The time limit for a server to become ready for a message, and also for accepting the message.
/// Resolving the server's name may take half of the time for becoming ready. A worker reserves more
/// than twice this time for its last email.
const TIMEOUT: Duration = Duration::from_secs(11);

/// Sends emails through the servers named in them.
pub struct Smtp {
    /// Created on first use: loading certificates is slow, and most projects use the deployment's
    /// mail server.
    tls: LazyLock<TlsConnector, Box<dyn FnOnce() -> TlsConnector + Send>>,
    allow_private: bool,
    relays: MailRelays,
    timeout: Duration,
    /// The API's host, which this client introduces itself as.
    host: Option<Host<String>>,
    composer: Composer,
    failures: Failures,
    pools: ServerPools,
}

type Connection = Talk<Box<dyn Stream>>;

impl Smtp {
    /// The sender for a Lambda function. The sender trusts the operator's root certificates and
    /// those of the system, which the Lambda runtimes include as a file: linking certificates into
    /// the function would make the function a thirtieth larger.
    pub fn from_env(settings: &Settings, clock: Clock) -> Result<Self, Error> {
        Self::trusting(settings, roots::system_roots, clock)
    }

    /// A sender that trusts the certificates in `public` and those of the operator
    /// (`SSL_CERT_FILE`).
    pub fn trusting(settings: &Settings, public: impl FnOnce() -> RootCertStore + Send + 'static, clock: Clock) -> Result<Self, Error> {
        let mut operators = RootCertStore::empty();
        tls::trust_operator(&mut operators)?;
        let roots = move || {
            operators.extend(public().roots);
            operators
        };
        Ok(Self::with(settings, roots, TIMEOUT, clock))
    }

    /// A sender that trusts only `roots`. The sender waits up to `timeout` for a server to become
    /// ready, and up to `timeout` again for the server to accept the message.
    pub fn new(settings: &Settings, roots: RootCertStore, timeout: Duration, clock: Clock) -> Self {
        Self::with(settings, || roots, timeout, clock)
    }

    fn with(settings: &Settings, roots: impl FnOnce() -> RootCertStore + Send + 'static, timeout: Duration, clock: Clock) -> Self {
        let tls = move || TlsConnector::from(Arc::new(tls::client(roots())));
        let host = Url::parse(&settings.api_url).ok().and_then(|url| url.host().map(|host| host.to_owned()));
        Self {
            tls: LazyLock::new(Box::new(tls)),
            allow_private: settings.allow_private_issuers,
            relays: settings.mail_relays.clone(),
            timeout,
            composer: Composer::new(host.as_ref().map(ToString::to_string)),
            host,
            failures: Failures { clock },
            pools: ServerPools::default(),
        }
    }

    /// Makes one attempt to send an email through this server.
    pub async fn try_send(&self, mail: &Mail, server: &Server) -> Outcome {
        let Some(message) = self.composer.compose(mail, self.failures.now()) else {
            return self.failures.lost("REJECTED", "the email cannot be sent: an address or a header is invalid");
        };
        let pool = self.pools.pool(&mail.project, &server.host, server.port);
        let postponed = || {
            let message = "the mail server was recently unreachable or did not answer, so this attempt was postponed";
            self.failures.again("TEMPORARY", message)
        };
        if pool.is_cooling_down() {
            return postponed();
        }
        let deadline = Instant::now() + self.timeout;
        let Ok(Ok(_slot)) = timeout_at(deadline, pool.slots.acquire()).await else {
            return self.failures.again("TIMEOUT", "the mail server is busy with earlier emails");
        };
        if pool.is_cooling_down() {
            return postponed();
        }
        let began = Instant::now();
        let talk = match timeout_at(deadline, self.ready(mail, server, &message)).await {
            Ok(Ok(talk)) => talk,
            Ok(Err(outcome)) => return outcome,
            Err(_) => {
                // After a long wait for a connection, even a healthy server has too little time.
                if began.elapsed() >= self.timeout / 2 {
                    pool.cool_down();
                }
                return self.failures.again("TIMEOUT", "the mail server did not answer in time");
            }
        };
        let (outcome, is_late) = self.told(talk, &message, server).await;
        if is_late {
            pool.cool_down();
        }
        outcome
    }

    /// Opens a connection and proceeds until the server expects the message.
    async fn ready(&self, mail: &Mail, server: &Server, message: &ComposedMessage) -> Result<Connection, Outcome> {
        let stream = self.connect(mail, server).await?;
        let (mut talk, offers) = self.greeted(stream, server).await?;
        if let Some((username, password)) = &server.login {
            let done = talk.log_in(offers, username, password).await;
            done.map_err(|fault| self.failures.outcome(&fault, Step::Login, server))?;
        }
        let refused = |step| move |fault: TalkError| self.failures.outcome(&fault, step, server);
        let from = message.envelope.from().map(ToString::to_string).unwrap_or_default();
        talk.command(&format!("MAIL FROM:<{from}>"), 2).await.map_err(refused(Step::Envelope))?;
        for to in message.envelope.to() {
            talk.command(&format!("RCPT TO:<{to}>"), 2).await.map_err(refused(Step::Recipient))?;
        }
        talk.command("DATA", 3).await.map_err(refused(Step::Envelope))?;
        tracing::debug!(id = %mail.id, "a mail server is ready for an email");
        Ok(talk)
    }

    /// Sends the message; also returns whether the server took too long.
    async fn told(&self, mut talk: Connection, message: &ComposedMessage, server: &Server) -> (Outcome, bool) {
        let deadline = Instant::now() + self.timeout;
        // Half of the time is reserved for the server's reply.
        match timeout(self.timeout / 2, talk.message(&message.bytes)).await {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => return (self.failures.outcome(&fault, Step::Envelope, server), false),
            Err(_) => return (self.failures.again("TIMEOUT", "the mail server did not take the message in time"), true),
        }
        match timeout_at(deadline, talk.end()).await {
            Ok(Ok(())) => {
                talk.quit().await;
                (Outcome::Sent { is_reported_on: false }, false)
            }
            Ok(Err(fault @ TalkError::Refused(_))) => (self.failures.outcome(&fault, Step::Envelope, server), false),
            Ok(Err(fault)) => (self.failures.unknown().because(failures::shown(&fault, server)), false),
            Err(_) => (self.failures.unknown(), true),
        }
    }

    async fn connect(&self, mail: &Mail, server: &Server) -> Result<TcpStream, Outcome> {
        let allow_private = self.allow_private || self.relays.include(&server.host, server.port);
        let limit = self.timeout / 2;
        let addresses = mail_server::resolve(&mail.project, server.host.trim_matches(['[', ']']), server.port, allow_private, limit).await;
        let cool_down = || self.pools.pool(&mail.project, &server.host, server.port).cool_down();
        let addresses = addresses.map_err(|error| {
            // If these errors differed, they would reveal which names exist in a private network.
            tracing::debug!(%error, "the host of a mail server cannot be used");
            if error.is::<Elapsed>() {
                cool_down();
            }
            let message = "the mail server's name has no public address";
            let is_name = matches!(Host::parse(&server.host), Ok(Host::Domain(_)));
            if is_name || !error.is::<NotPublic>() {
                self.failures.again("HOST_NOT_FOUND", message)
            } else {
                self.failures.lost("HOST_NOT_FOUND", message)
            }
        })?;
        let unreachable = |error: std::io::Error| {
            cool_down();
            self.failures.again("TEMPORARY", "the mail server cannot be reached").because(error.to_string())
        };
        #[expect(clippy::disallowed_methods, reason = "the addresses have been checked")]
        let connected = TcpStream::connect(&*addresses).await;
        connected.map_err(unreachable)
    }

    /// A connection on which the client and the server have introduced themselves, and the features
    /// that the server offers. The connection is encrypted, except to a relay without login and, if
    /// private IP addresses are allowed, to a server on this machine that does not offer TLS.
    async fn greeted(&self, stream: TcpStream, server: &Server) -> Result<(Connection, Offers), Outcome> {
        let refused = |fault: TalkError| self.failures.outcome(&fault, Step::Greeting, server);
        let closed = |error: std::io::Error| self.failures.closed(&error);
        let peer = stream.peer_addr().map_err(closed)?;
        let hello = hello(self.host.as_ref(), stream.local_addr().map_err(closed)?);
        let stream = stream.into_std().map_err(closed)?;
        let below = stream.try_clone().map_err(closed)?;
        let stream = TcpStream::from_std(stream).map_err(closed)?;
        if TLS_PORTS.contains(&server.port) {
            let mut talk = Talk::new(self.encrypted(stream, server).await?, below);
            talk.greeting().await.map_err(refused)?;
            let offers = talk.hello(&hello).await.map_err(refused)?;
            return Ok((talk.boxed(), offers));
        }
        let mut talk = Talk::new(stream, below);
        talk.greeting().await.map_err(refused)?;
        let offers = talk.hello(&hello).await.map_err(refused)?;
        let is_relay = server.login.is_none() && self.relays.include(&server.host, server.port);
        let is_here = self.allow_private && peer.ip().is_loopback();
        if is_relay || (is_here && !offers.starttls) {
            return Ok((talk.boxed(), offers));
        }
        if !offers.starttls {
            talk.quit().await;
            return Err(self.failures.again("UNKNOWN", "the mail server does not offer TLS (STARTTLS)"));
        }
        talk.command("STARTTLS", 2).await.map_err(refused)?;
        let (stream, below) = talk.into_stream().map_err(refused)?;
        let mut talk = Talk::new(self.encrypted(stream, server).await?, below);
        let offers = talk.hello(&hello).await.map_err(refused)?;
        Ok((talk.boxed(), offers))
    }

    async fn encrypted(&self, stream: TcpStream, server: &Server) -> Result<TlsStream<TcpStream>, Outcome> {
        let name = match Host::parse(&server.host) {
            Ok(Host::Domain(name)) => ServerName::try_from(name).ok(),
            Ok(Host::Ipv4(address)) => Some(ServerName::from(IpAddr::V4(address))),
            Ok(Host::Ipv6(address)) => Some(ServerName::from(IpAddr::V6(address))),
            Err(_) => None,
        };
        let invalid = "the mail server's host is not a name that a certificate can be issued for";
        let name = name.ok_or_else(|| self.failures.lost("HOST_NOT_FOUND", invalid))?;
        self.tls.connect(name, stream).await.map_err(|error| match error.kind() {
            // The server's certificate may be replaced before the last attempt.
            ErrorKind::InvalidData => {
                let message = "TLS failed or the mail server's certificate is invalid; nothing was sent";
                self.failures.again("UNKNOWN", message).because(error.to_string())
            }
            _ => self.failures.closed(&error),
        })
    }
}

/// How a client introduces itself (RFC 5321 §4.1.4): by its name if the name is fully qualified,
/// otherwise by an address, because servers refuse names that are not fully qualified.
fn hello(host: Option<&Host<String>>, local: SocketAddr) -> String {
    let is_label = |label: &str| {
        let is_legal = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_legal && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    let address = match host {
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            if name.contains('.') && name.split('.').all(is_label) {
                return name.to_owned();
            }
            local.ip().to_canonical()
        }
        Some(Host::Ipv4(address)) => IpAddr::V4(*address),
        Some(Host::Ipv6(address)) => IpAddr::V6(*address),
        None => local.ip().to_canonical(),
    };
    if address.is_ipv4() { format!("[{address}]") } else { format!("[IPv6:{address}]") }
}

/// Sends an email through its project's own server, or through the deployment's sender if the
/// project has none.
pub struct ProjectMailer<M> {
    /// The sender for projects with their own mail server.
    pub own: Smtp,
    /// For all other projects.
    pub deployments: M,
}

impl<M: Mailer> Mailer for ProjectMailer<M> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_introduces_itself_by_a_full_name_or_an_address() {
        let (v4, v6) = ("192.0.2.1:9".parse().expect("an address"), "[2001:db8::1]:9".parse().expect("an address"));
        for (url, local, expected) in [
            ("https://api.example.com", v4, "api.example.com"),
            ("https://api.example.com.", v4, "api.example.com"),
            ("https://bücher.example", v4, "xn--bcher-kva.example"),
            ("http://localhost:8000", v4, "[192.0.2.1]"),
            ("http://localhost:8000", v6, "[IPv6:2001:db8::1]"),
            ("http://my_host.example", v4, "[192.0.2.1]"),
            ("http://198.51.100.7:8000", v4, "[198.51.100.7]"),
            ("http://[2001:db8::7]:8000", v4, "[IPv6:2001:db8::7]"),
        ] {
            let host = Url::parse(url).expect("a URL").host().map(|host| host.to_owned());
            assert_eq!(hello(host.as_ref(), local), expected, "{url} {local}");
        }
        assert_eq!(hello(None, "[::ffff:192.0.2.1]:9".parse().expect("an address")), "[192.0.2.1]");
    }
}
