//! A mail server that behaves as the test specifies, and records the commands and messages that it
//! receives. The server is strict. A client that violates RFC 5321 fails the test.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::steady_time::SteadyTime;

/// How the server behaves. A stage is the first four letters of the command or another name. `220`
/// is the greeting, `TLS` the handshake after STARTTLS, `354` the moment after the reply to DATA,
/// and `.` the end of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// Accepts the email.
    Well,
    /// Replies with this line at this stage.
    Answers(&'static str, &'static str),
    /// Closes the connection instead of replying at this stage.
    Cuts(&'static str),
    /// Resets the connection instead of replying at this stage.
    Resets(&'static str),
    /// Never replies at this stage.
    Silent(&'static str),
    /// Replies at this stage once [`MailServer::go_on`] has been called.
    Waits(&'static str),
    /// Replies with an endless line at this stage.
    Babbles(&'static str),
    /// Requires no authentication.
    Open,
    /// Offers only AUTH LOGIN.
    LoginOnly,
    /// Replies with codes only, on one line or several lines.
    Mute,
    /// Offers STARTTLS, and replies to the STARTTLS command with more lines than expected.
    StartTls,
}

impl Behaviour {
    /// Whether STARTTLS is offered.
    fn offers_tls(self) -> bool {
        match self {
            Self::StartTls => true,
            Self::Answers(stage, _) | Self::Cuts(stage) | Self::Resets(stage) | Self::Silent(stage) | Self::Babbles(stage) => {
                matches!(stage, "STAR" | "TLS")
            }
            _ => false,
        }
    }

    /// Whether the client has a reason to leave without QUIT.
    fn is_hopeless(self) -> bool {
        match self {
            Self::Answers(stage, text) => matches!(stage, "354" | "TLS") || !text.starts_with(['4', '5']),
            Self::Cuts(_) | Self::Resets(_) | Self::Silent(_) | Self::Waits(_) | Self::Babbles(_) | Self::StartTls => true,
            Self::Well | Self::Open | Self::LoginOnly | Self::Mute => false,
        }
    }
}

#[derive(Default)]
struct SeenMail {
    messages: Mutex<Vec<String>>,
    commands: Mutex<Vec<String>>,
    complaints: Mutex<Vec<String>>,
}

impl SeenMail {
    fn complain(&self, about: &str, line: &str) {
        self.complaints.lock().unwrap().push(format!("{about}: {line:?}"));
    }
}

pub struct MailServer {
    pub port: u16,
    seen: Arc<SeenMail>,
    /// Closed by [`MailServer::go_on`].
    gate: Arc<Semaphore>,
    /// Closed when a connection stops getting replies.
    is_silent: Arc<Semaphore>,
    _time: SteadyTime,
}

impl MailServer {
    /// Starts a server with one behaviour for each connection. The last behaviour repeats.
    pub async fn start(behaviours: Vec<Behaviour>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let [gate, is_silent] = [(); 2].map(|()| Arc::new(Semaphore::new(0)));
        let server =
            Self { port: listener.local_addr().unwrap().port(), seen: Arc::default(), gate, is_silent, _time: SteadyTime::start() };
        let (seen, gate, is_silent) = (Arc::clone(&server.seen), Arc::clone(&server.gate), Arc::clone(&server.is_silent));
        tokio::spawn(async move {
            let mut turn = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let behaviour = behaviours[turn.min(behaviours.len() - 1)];
                turn += 1;
                let (seen, gate, is_silent) = (Arc::clone(&seen), Arc::clone(&gate), Arc::clone(&is_silent));
                let stream = BufReader::new(stream);
                tokio::spawn(async move { Visit { stream, behaviour, seen: &seen, gate: &gate, is_silent: &is_silent }.serve().await });
            }
        });
        server
    }

    /// Makes the server send the replies that it has held back ([`Behaviour::Waits`]).
    pub fn go_on(&self) {
        self.gate.close();
    }

    /// Waits until a connection stops getting replies ([`Behaviour::Silent`]).
    pub async fn is_silent(&self) {
        let _ = self.is_silent.acquire().await;
    }

    /// The messages that were received in full, without the dots that are added for the transfer.
    pub fn messages(&self) -> Vec<String> {
        self.seen.messages.lock().unwrap().clone()
    }

    /// The commands that the server has received, line by line, without the messages.
    pub fn commands(&self) -> Vec<String> {
        self.seen.commands.lock().unwrap().clone()
    }

    /// The number of delivery attempts, counted by EHLO.
    pub fn attempts(&self) -> usize {
        self.commands().iter().filter(|command| command.starts_with("EHLO")).count()
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        let complaints = self.seen.complaints.lock().unwrap();
        assert!(std::thread::panicking() || complaints.is_empty(), "what the client does is not SMTP: {complaints:#?}");
    }
}

/// One connection.
struct Visit<'a> {
    stream: BufReader<TcpStream>,
    behaviour: Behaviour,
    seen: &'a SeenMail,
    gate: &'a Semaphore,
    is_silent: &'a Semaphore,
}

impl Visit<'_> {
    /// Returns when the connection ends.
    async fn serve(mut self) -> Option<()> {
        self.answer("220", "220 stub").await?;
        let mut before = String::new();
        loop {
            let line = self.command().await?;
            let verb = line.get(..4).unwrap_or_default().to_uppercase();
            if let Some(complaint) = complaint(&before, &verb, &line) {
                self.seen.complain(complaint, &line);
            }
            let well = match verb.as_str() {
                "EHLO" if self.behaviour == Behaviour::Open => "250 stub",
                "EHLO" if self.behaviour == Behaviour::LoginOnly => "250-stub\r\n250-8BITMIME\r\n250 auth login",
                "EHLO" if self.behaviour.offers_tls() => "250-stub\r\n250 STARTTLS",
                "EHLO" => "250-stub\r\n250 AUTH PLAIN LOGIN",
                "STAR" if self.behaviour == Behaviour::StartTls => "220 go on\r\n250-injected\r\n250 AUTH PLAIN",
                "STAR" => "220 go on",
                "AUTH" => "235 welcome",
                "DATA" => "354 go on",
                "QUIT" => "221 bye",
                _ => "250 ok",
            };
            if verb == "AUTH" {
                self.challenge(&line).await?;
            }
            self.answer(&verb, well).await?;
            match verb.as_str() {
                "STAR" => {
                    // Waits until the client begins the handshake.
                    let _ = self.stream.fill_buf().await;
                    self.answer("TLS", "").await?;
                    return None;
                }
                "DATA" if !matches!(self.behaviour, Behaviour::Answers("DATA", _)) => {
                    let message = self.message().await?;
                    self.seen.messages.lock().unwrap().push(message);
                    self.answer(".", "250 taken").await?;
                }
                "QUIT" => return self.stream.shutdown().await.ok(),
                _ => {}
            }
            before = verb;
        }
    }

    /// The next command, without the end of its line.
    async fn command(&mut self) -> Option<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            if !self.behaviour.is_hopeless() {
                self.seen.complain("the connection was closed without QUIT after", self.seen.commands.lock().unwrap().last()?);
            }
            return None;
        }
        let command = line.trim_end_matches(['\r', '\n']).to_owned();
        self.seen.commands.lock().unwrap().push(command.clone());
        if line.len() != command.len() + 2 || !line.ends_with("\r\n") || command.contains('\r') {
            self.seen.complain("a command does not end with CRLF", &line);
        }
        if line.len() > 512 || !command.chars().all(|c| c == ' ' || c.is_ascii_graphic()) || command.ends_with(' ') {
            self.seen.complain("a command is too long, or has other characters than it may", &line);
        }
        if !self.stream.buffer().is_empty() {
            self.seen.complain("more was sent than a command, without an offer of PIPELINING", &line);
        }
        Some(command)
    }

    /// Asks for the credentials, which an AUTH command without an initial response does not
    /// contain.
    async fn challenge(&mut self, line: &str) -> Option<()> {
        let prompts = match line {
            "AUTH LOGIN" => &["334 VXNlcm5hbWU6", "334 UGFzc3dvcmQ6"][..],
            "AUTH PLAIN" => &["334"],
            _ => &[],
        };
        for prompt in prompts {
            self.answer("334", prompt).await?;
            let mut response = String::new();
            self.stream.read_line(&mut response).await.ok()?;
            self.seen.commands.lock().unwrap().push(response.trim_end().to_owned());
        }
        Some(())
    }

    /// Sends the regular reply, or misbehaves if the behaviour is for this stage. `None` means that
    /// the connection is to be closed.
    async fn answer(&mut self, stage: &str, well: &str) -> Option<()> {
        let text = match self.behaviour {
            Behaviour::Answers(at, text) if at == stage => text.to_owned(),
            Behaviour::Cuts(at) if at == stage => {
                self.stream.shutdown().await.ok()?;
                return None;
            }
            Behaviour::Resets(at) if at == stage => {
                self.stream.get_ref().set_zero_linger().ok()?;
                return None;
            }
            Behaviour::Silent(at) if at == stage => {
                self.is_silent.close();
                return std::future::pending().await;
            }
            Behaviour::Waits(at) if at == stage => {
                let _ = self.gate.acquire().await;
                well.to_owned()
            }
            Behaviour::Babbles(at) if at == stage => {
                while self.stream.write_all(&[b'x'; 4096]).await.is_ok() {}
                return None;
            }
            _ if well.is_empty() => return Some(()),
            Behaviour::Mute if well.contains("AUTH") => "250-\r\n250-AUTH PLAIN\r\n250".to_owned(),
            Behaviour::Mute if stage == "RCPT" => "250-\r\n250".to_owned(),
            Behaviour::Mute => well.split(' ').next()?.to_owned(),
            _ => well.to_owned(),
        };
        self.stream.write_all(format!("{text}\r\n").as_bytes()).await.ok()
    }

    /// The message, once complete.
    async fn message(&mut self) -> Option<String> {
        self.answer("354", "").await?;
        let mut message = String::new();
        loop {
            let mut line = Vec::new();
            if self.stream.read_until(b'\n', &mut line).await.unwrap_or(0) == 0 {
                return None;
            }
            let text = String::from_utf8_lossy(&line).into_owned();
            if text == ".\r\n" {
                return Some(message);
            }
            let inner = text.strip_suffix("\r\n").unwrap_or(&text);
            if inner.len() + 2 != text.len() || inner.contains(['\r', '\n', '\0']) {
                self.seen.complain("a line of the message does not end with CRLF", &text);
            }
            if inner.len() > 998 || !inner.is_ascii() {
                self.seen.complain("a line of the message is too long, or not ASCII without an offer of 8BITMIME", &text);
            }
            if inner.starts_with('.') && !inner.starts_with("..") {
                self.seen.complain("a dot at the start of a line is not doubled", &text);
            }
            message.push_str(text.strip_prefix('.').unwrap_or(&text));
        }
    }
}

/// The fault of a command that follows the command `before`. `None` if the command is correct.
fn complaint(before: &str, verb: &str, line: &str) -> Option<&'static str> {
    let is_path = |prefix: &str| {
        let address = line.strip_prefix(prefix).and_then(|rest| rest.strip_suffix('>'));
        address.and_then(|address| address.rsplit_once('@')).is_some_and(|(local, domain)| {
            let is_atom = |text: &str| !text.is_empty() && !text.contains([' ', '<', '>', '"', ',', ';', ':']);
            (1..=64).contains(&local.len()) && local.split('.').all(is_atom) && is_domain(domain)
        })
    };
    let follows = |allowed: &[&str]| allowed.contains(&before);
    match verb {
        "EHLO" | "HELO" if !line.get(5..).is_some_and(|name| is_domain(name) || is_literal(name)) => {
            Some("the client's name is neither a full domain nor an address literal (§4.1.4)")
        }
        "EHLO" if !before.is_empty() => Some("EHLO comes first"),
        "HELO" if before != "EHLO" => Some("HELO only replaces EHLO"),
        "STAR" | "AUTH" if !follows(&["EHLO"]) => Some("out of order"),
        "MAIL" if !follows(&["EHLO", "HELO", "AUTH"]) => Some("out of order"),
        "MAIL" if !is_path("MAIL FROM:<") => Some("not a reverse-path without parameters (§4.1.1.2)"),
        "RCPT" if !follows(&["MAIL", "RCPT"]) => Some("out of order"),
        "RCPT" if !is_path("RCPT TO:<") => Some("not a forward-path without parameters (§4.1.1.3)"),
        "DATA" if line != "DATA" || before != "RCPT" => Some("out of order"),
        "EHLO" | "HELO" | "STAR" | "AUTH" | "MAIL" | "RCPT" | "DATA" => None,
        "QUIT" if line == "QUIT" => None,
        _ => Some("not a command"),
    }
}

fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        let is_legal = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_legal && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    text.len() <= 255 && text.contains('.') && text.split('.').all(is_label)
}

fn is_literal(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else { return false };
    match inner.strip_prefix("IPv6:") {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => inner.parse::<std::net::Ipv4Addr>().is_ok(),
    }
}
