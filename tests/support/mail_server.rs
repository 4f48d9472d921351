//! A mail server that behaves as a test specifies, and records what it receives.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// How the server behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// Accepts the email.
    Well,
    /// Answers a command with this line. The command is named by its first four letters; `220`
    /// stands for the greeting, and `.` for the end of the message.
    Answers(&'static str, &'static str),
    /// Closes the connection instead of answering this command.
    Cuts(&'static str),
    /// Never answers this command.
    Silent(&'static str),
    /// Answers this command once [`MailServer::go_on`] has been called.
    Waits(&'static str),
    /// Answers this command with an endless line.
    Babbles(&'static str),
    /// Requires no authentication.
    Open,
    /// Offers STARTTLS, and answers that command with more lines than expected.
    StartTls,
}

pub struct MailServer {
    pub port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    messages: Mutex<Vec<String>>,
    commands: Mutex<Vec<String>>,
    /// Closed by [`MailServer::go_on`].
    gate: Semaphore,
    /// Closed when a connection gets no answer any more.
    is_silent: Semaphore,
}

impl MailServer {
    /// Starts a server with a behaviour for each connection; the last one applies to all further
    /// connections.
    pub async fn start(behaviours: Vec<Behaviour>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let [gate, is_silent] = [(); 2].map(|()| Semaphore::new(0));
        let shared = Arc::new(Shared { messages: Mutex::default(), commands: Mutex::default(), gate, is_silent });
        let server = Self { port: listener.local_addr().unwrap().port(), shared: Arc::clone(&shared) };
        tokio::spawn(async move {
            let mut turn = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let behaviour = behaviours[turn.min(behaviours.len() - 1)];
                turn += 1;
                let shared = Arc::clone(&shared);
                tokio::spawn(async move { serve(stream, behaviour, &shared).await });
            }
        });
        server
    }

    /// Lets the server send the answers that it has withheld ([`Behaviour::Waits`]).
    pub fn go_on(&self) {
        self.shared.gate.close();
    }

    /// Waits until a connection gets no answer any more ([`Behaviour::Silent`]).
    pub async fn is_silent(&self) {
        let _ = self.shared.is_silent.acquire().await;
    }

    /// The messages that were received completely.
    pub fn messages(&self) -> Vec<String> {
        self.shared.messages.lock().unwrap().clone()
    }

    /// The commands that the server received, line by line, without the messages.
    pub fn commands(&self) -> Vec<String> {
        self.shared.commands.lock().unwrap().clone()
    }

    /// The number of attempts to deliver, as each of them sends EHLO.
    pub fn attempts(&self) -> usize {
        self.commands().iter().filter(|command| command.starts_with("EHLO")).count()
    }
}

async fn serve(stream: TcpStream, behaviour: Behaviour, shared: &Shared) {
    let mut stream = BufReader::new(stream);
    if answer(&mut stream, behaviour, shared, "220", "220 stub").await.is_none() {
        return;
    }
    let mut line = String::new();
    loop {
        line.clear();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return;
        }
        shared.commands.lock().unwrap().push(line.trim_end().to_owned());
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
        if answer(&mut stream, behaviour, shared, &verb, well).await.is_none() {
            return;
        }
        if verb == "DATA" && !matches!(behaviour, Behaviour::Answers("DATA", _)) {
            let message = message(&mut stream).await;
            shared.messages.lock().unwrap().push(message);
            if answer(&mut stream, behaviour, shared, ".", "250 taken").await.is_none() {
                return;
            }
        }
    }
}

/// Sends the regular answer, or misbehaves if `behaviour` applies to this command; `None` closes
/// the connection.
async fn answer(stream: &mut BufReader<TcpStream>, behaviour: Behaviour, shared: &Shared, to: &str, well: &str) -> Option<()> {
    let text = match behaviour {
        Behaviour::Answers(verb, text) if verb == to => text,
        Behaviour::Cuts(verb) if verb == to => return None,
        Behaviour::Silent(verb) if verb == to => {
            shared.is_silent.close();
            return std::future::pending().await;
        }
        Behaviour::Waits(verb) if verb == to => {
            let _ = shared.gate.acquire().await;
            well
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
