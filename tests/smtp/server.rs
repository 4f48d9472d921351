//! A mail server that does as a test says, and keeps what it was sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// What the server does instead of what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    /// Takes the mail.
    Well,
    /// Answers a command (by its first four letters; `.` for the end of the message) with this.
    Answers(&'static str, &'static str),
    /// Closes the connection in place of an answer.
    Cuts(&'static str),
    /// Says nothing.
    Silent(&'static str),
    /// Answers with a line that does not end.
    Babbles(&'static str),
    /// Wants nobody to sign in.
    Open,
    /// Offers TLS, and answers with more than it was asked for.
    StartTls,
}

pub(crate) struct MailServer {
    pub(crate) port: u16,
    messages: Arc<Mutex<Vec<String>>>,
    commands: Arc<Mutex<Vec<String>>>,
}

impl MailServer {
    /// Behaves in these ways, one connection after another, and in the last one from then on.
    pub(crate) async fn start(behaviours: Vec<Behaviour>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self { port: listener.local_addr().unwrap().port(), messages: Arc::default(), commands: Arc::default() };
        let (messages, commands) = (Arc::clone(&server.messages), Arc::clone(&server.commands));
        tokio::spawn(async move {
            let mut turn = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let behaviour = behaviours[turn.min(behaviours.len() - 1)];
                turn += 1;
                tokio::spawn(serve(stream, behaviour, Arc::clone(&messages), Arc::clone(&commands)));
            }
        });
        server
    }

    /// The messages that came to their end.
    pub(crate) fn messages(&self) -> Vec<String> {
        self.messages.lock().unwrap().clone()
    }

    /// What was said to it, line by line, without messages.
    pub(crate) fn commands(&self) -> Vec<String> {
        self.commands.lock().unwrap().clone()
    }

    /// How many connections got as far as the message.
    pub(crate) fn attempts(&self) -> usize {
        self.commands().iter().filter(|command| command.starts_with("EHLO")).count()
    }
}

async fn serve(stream: TcpStream, behaviour: Behaviour, messages: Arc<Mutex<Vec<String>>>, commands: Arc<Mutex<Vec<String>>>) {
    let mut stream = BufReader::new(stream);
    if answer(&mut stream, behaviour, "220", "220 stub").await.is_none() {
        return;
    }
    let mut line = String::new();
    loop {
        line.clear();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return;
        }
        commands.lock().unwrap().push(line.trim_end().to_owned());
        let verb = line.get(..4).unwrap_or_default().to_uppercase();
        let well = match verb.as_str() {
            "EHLO" if behaviour == Behaviour::Open => "250 stub",
            "EHLO" if behaviour == Behaviour::StartTls => "250-stub\r\n250 STARTTLS",
            "EHLO" => "250-stub\r\n250 AUTH PLAIN LOGIN",
            "STAR" => "220 go on\r\n250-injected\r\n250 AUTH PLAIN",
            "AUTH" => "235 welcome",
            "DATA" => "354 go on",
            "QUIT" => "221 bye",
            _ => "250 ok",
        };
        if answer(&mut stream, behaviour, &verb, well).await.is_none() {
            return;
        }
        if verb == "DATA" && !matches!(behaviour, Behaviour::Answers("DATA", _)) {
            let message = message(&mut stream).await;
            messages.lock().unwrap().push(message);
            if answer(&mut stream, behaviour, ".", "250 taken").await.is_none() {
                return;
            }
        }
    }
}

/// Answers as it should, or as it behaves; none: the connection is over.
async fn answer(stream: &mut BufReader<TcpStream>, behaviour: Behaviour, to: &str, well: &str) -> Option<()> {
    let text = match behaviour {
        Behaviour::Answers(verb, text) if verb == to => text,
        Behaviour::Cuts(verb) if verb == to => return None,
        Behaviour::Silent(verb) if verb == to => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            return None;
        }
        Behaviour::Babbles(verb) if verb == to => {
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
            return None;
        }
        _ => well,
    };
    stream.write_all(format!("{text}\r\n").as_bytes()).await.ok()
}

async fn message(stream: &mut BufReader<TcpStream>) -> String {
    let (mut message, mut line) = (String::new(), String::new());
    while stream.read_line(&mut line).await.unwrap_or(0) > 0 && line != ".\r\n" {
        message.push_str(&line);
        line.clear();
    }
    message
}
