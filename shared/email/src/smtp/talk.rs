//! A conversation with a mail server (RFC 5321). Commands are sent one at a time, because not every
//! server accepts a command before it has replied to the previous one (RFC 2920).

use std::io::{self, ErrorKind};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::reply::Reply;

/// The maximum number of bytes to read from a connection before STARTTLS, and again after it.
/// Without this limit, a server that never ends a line could exhaust memory. The replies to the
/// commands for one email take less than two thousand bytes in total.
const MAX_RECEIVED: usize = 64 * 1024;
/// How long to wait for the reply to QUIT.
const GOODBYE: Duration = Duration::from_secs(1);
/// How long to wait for the rest of a TLS record that begins to arrive while the message is being
/// sent.
const GLANCE: Duration = Duration::from_millis(200);
/// The maximum length of a command line, in bytes including its end (RFC 5321 §4.5.3.1.4); for AUTH
/// with an initial response, RFC 4954 §4 applies.
const MAX_COMMAND: usize = 512;

/// A connection, encrypted or not.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Why a conversation ended early.
#[derive(Debug, thiserror::Error)]
pub(super) enum TalkError {
    /// The server refused the command, temporarily (4yz) or permanently (5yz).
    #[error("{0}")]
    Refused(Reply),
    /// The response is not a reply, or not a reply to this command.
    #[error("not a reply: {0}")]
    Invalid(String),
    /// The connection was lost.
    #[error("{0}")]
    Closed(io::Error),
    /// The server does not offer a supported way to log in.
    #[error("the server offers neither AUTH PLAIN nor AUTH LOGIN")]
    NoLogin,
}

impl TalkError {
    /// The error for a reply that is unexpected after the command.
    fn of(reply: Reply) -> Self {
        if matches!(reply.class(), 4 | 5) { Self::Refused(reply) } else { Self::Invalid(reply.to_string()) }
    }
}

/// The features that a server offers (RFC 5321 §4.1.1.1).
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Offers {
    pub(super) starttls: bool,
    plain: bool,
    login: bool,
}

impl Offers {
    /// Keywords may be in upper case or lower case. Before RFC 4954, servers wrote `AUTH=PLAIN`.
    fn of(reply: &Reply) -> Self {
        let mut offers = Self::default();
        // The first line has the server's name.
        for line in reply.lines.iter().skip(1) {
            let line = line.to_ascii_uppercase();
            let mut words = line.split([' ', '\t', '=']).filter(|word| !word.is_empty());
            match words.next() {
                Some("STARTTLS") => offers.starttls = true,
                Some("AUTH") => words.for_each(|word| match word {
                    "PLAIN" => offers.plain = true,
                    "LOGIN" => offers.login = true,
                    _ => {}
                }),
                _ => {}
            }
        }
        offers
    }
}

pub(super) struct Talk<S> {
    stream: S,
    /// The underlying connection, to be inspected without reading from it.
    below: std::net::TcpStream,
    arrived: Vec<u8>,
    left: usize,
}

impl Talk<TcpStream> {
    /// The underlying stream, for TLS. Fails if more than the reply to STARTTLS has arrived: anyone
    /// on the network path could have added it (RFC 3207 §6).
    pub(super) fn into_stream(self) -> Result<(TcpStream, std::net::TcpStream), TalkError> {
        let Self { stream, below, arrived, .. } = self;
        if arrived.is_empty() { Ok((stream, below)) } else { Err(TalkError::Invalid(shown(&arrived))) }
    }
}

impl<S: Stream + 'static> Talk<S> {
    pub(super) fn new(stream: S, below: std::net::TcpStream) -> Self {
        Self { stream, below, arrived: Vec::new(), left: MAX_RECEIVED }
    }

    pub(super) fn boxed(self) -> Talk<Box<dyn Stream>> {
        Talk { stream: Box::new(self.stream), below: self.below, arrived: self.arrived, left: self.left }
    }

    /// Awaits the greeting, before any command.
    pub(super) async fn greeting(&mut self) -> Result<(), TalkError> {
        let reply = self.reply().await?;
        self.expected(reply, 2).await.map(drop)
    }

    /// Introduces this client with EHLO or, if the server does not support EHLO, with HELO (RFC
    /// 5321 §3.2).
    pub(super) async fn hello(&mut self, name: &str) -> Result<Offers, TalkError> {
        self.say(&format!("EHLO {name}")).await?;
        let reply = self.reply().await?;
        if matches!(reply.code, 500 | 502) {
            return self.command(&format!("HELO {name}"), 2).await.map(|_| Offers::default());
        }
        Ok(Offers::of(&self.expected(reply, 2).await?))
    }

    /// Logs in (RFC 4954), preferably with PLAIN, otherwise with LOGIN.
    pub(super) async fn log_in(&mut self, offers: Offers, username: &str, password: &SecretString) -> Result<(), TalkError> {
        let password = password.expose_secret();
        if offers.plain {
            let response = STANDARD.encode(format!("\0{username}\0{password}"));
            let whole = format!("AUTH PLAIN {response}");
            if whole.len() + 2 > MAX_COMMAND {
                self.command("AUTH PLAIN", 3).await?;
                self.command(&response, 2).await?;
            } else {
                self.command(&whole, 2).await?;
            }
        } else if offers.login {
            self.command("AUTH LOGIN", 3).await?;
            self.command(&STANDARD.encode(username), 3).await?;
            self.command(&STANDARD.encode(password), 2).await?;
        } else {
            self.quit().await;
            return Err(TalkError::NoLogin);
        }
        Ok(())
    }

    /// Sends a command and expects a reply of this class.
    pub(super) async fn command(&mut self, line: &str, class: u16) -> Result<Reply, TalkError> {
        self.say(line).await?;
        let reply = self.reply().await?;
        self.expected(reply, class).await
    }

    /// Sends the message without the line that ends it, so the server cannot have accepted the
    /// message. Fails if the server is already known to have closed the connection or refused the
    /// message.
    pub(super) async fn message(&mut self, message: &[u8]) -> Result<(), TalkError> {
        self.write(&transparent(message)).await?;
        if self.arrived.is_empty() {
            match self.below.peek(&mut [0]) {
                Ok(0) => return Err(TalkError::Closed(ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(TalkError::Closed(error)),
            }
        }
        // Something has arrived: a reply, or a TLS record that does not contain a reply. QUIT
        // cannot be sent in either case: the server would take it for a line of the message.
        match timeout(GLANCE, self.reply()).await {
            Ok(reply) => Err(TalkError::of(reply?)),
            Err(_) if self.arrived.is_empty() => Ok(()),
            Err(_) => Err(TalkError::Invalid(shown(&self.arrived))),
        }
    }

    /// Ends the message. From the first byte on, the server may have accepted the message; only the
    /// server's reply shows whether it has.
    pub(super) async fn end(&mut self) -> Result<(), TalkError> {
        self.command(".", 2).await.map(drop)
    }

    /// Says goodbye, as a client must before it closes the connection (RFC 5321 §4.1.1.10). The
    /// reply does not matter.
    pub(super) async fn quit(&mut self) {
        let goodbye = async {
            self.say("QUIT").await?;
            self.reply().await?;
            self.stream.shutdown().await.map_err(TalkError::Closed)
        };
        let _ = timeout(GOODBYE, goodbye).await;
    }

    async fn say(&mut self, line: &str) -> Result<(), TalkError> {
        self.write(format!("{line}\r\n").as_bytes()).await
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), TalkError> {
        self.stream.write_all(bytes).await.map_err(TalkError::Closed)?;
        self.stream.flush().await.map_err(TalkError::Closed)
    }

    async fn reply(&mut self) -> Result<Reply, TalkError> {
        loop {
            let taken = Reply::take(&mut self.arrived).map_err(|_| TalkError::Invalid(shown(&self.arrived)))?;
            if let Some(reply) = taken {
                return Ok(reply);
            }
            let mut bytes = [0; 1024];
            let count = self.stream.read(&mut bytes).await.map_err(TalkError::Closed)?;
            if count == 0 {
                return Err(TalkError::Closed(ErrorKind::UnexpectedEof.into()));
            }
            self.left = self.left.checked_sub(count).ok_or_else(|| TalkError::Invalid("more than 64 KiB".to_owned()))?;
            self.arrived.extend_from_slice(&bytes[..count]);
        }
    }

    /// The reply, if it is of the expected class. After a refusal, only QUIT can be sent.
    async fn expected(&mut self, reply: Reply, class: u16) -> Result<Reply, TalkError> {
        if reply.class() == class {
            return Ok(reply);
        }
        let fault = TalkError::of(reply);
        if matches!(fault, TalkError::Refused(_)) {
            self.quit().await;
        }
        Err(fault)
    }
}

/// The message as lines that end with CRLF and cannot be mistaken for the end of the message (RFC
/// 5321 §4.5.2). A lone CR or LF is sent as CRLF, because some servers treat it as the end of a
/// line, and could therefore see an early end of the message (CVE-2023-51764).
fn transparent(message: &[u8]) -> Vec<u8> {
    let mut wire = Vec::with_capacity(message.len() + message.len() / 32 + 2);
    let mut left = message;
    while !left.is_empty() {
        let length = left.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(left.len());
        let (line, rest) = left.split_at(length);
        if line.starts_with(b".") {
            wire.push(b'.');
        }
        wire.extend_from_slice(line);
        wire.extend_from_slice(b"\r\n");
        left = rest.strip_prefix(b"\r\n").or_else(|| rest.get(1..)).unwrap_or_default();
    }
    wire
}

/// The first received bytes, as text.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_lines_with_crlf_and_doubled_dots() {
        for (message, wire) in [
            (&b""[..], &b""[..]),
            (b"a\r\nb\r\n", b"a\r\nb\r\n"),
            (b"a", b"a\r\n"),
            (b"a\nb\rc\r\n\r\n", b"a\r\nb\r\nc\r\n\r\n"),
            (b".\r\n..\r\n.a\r\na.\r\n", b"..\r\n...\r\n..a\r\na.\r\n"),
            (b"a\n.\nb\r.\rc", b"a\r\n..\r\nb\r\n..\r\nc\r\n"),
            (b"\r\r\n\n", b"\r\n\r\n\r\n"),
        ] {
            assert_eq!(transparent(message), wire, "{message:?}");
        }
    }

    #[test]
    fn offers_are_read_in_any_case_and_in_the_old_form() {
        let of = |lines: &[&str]| Offers::of(&Reply { code: 250, lines: lines.iter().map(ToString::to_string).collect() });
        let offers = of(&["mail.example", "StartTLS", "auth Login", "8BITMIME"]);
        assert!(offers.starttls && offers.login && !offers.plain);
        assert!(of(&["mail.example", "AUTH=PLAIN LOGIN"]).plain);
        assert!(!of(&["STARTTLS"]).starttls, "a server's name is not an offer");
    }
}
