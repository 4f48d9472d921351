//! An endpoint that takes the place of SES, behaves as the test specifies, and records requests.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use support::steady_time::SteadyTime;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What the endpoint does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Behaviour {
    /// Responds with a status and a body.
    Answer(u16, Value),
    /// Closes the connection without reading anything from it.
    CutBeforeReading,
    /// Reads the whole request, and then closes the connection.
    CutAfterReading,
    /// Reads the whole request, and then starts a response without completing it.
    CutWhileAnswering,
    /// Reads the whole request, but never responds.
    Silence,
}

pub(crate) struct Endpoint {
    pub(crate) url: String,
    behaviours: Arc<Mutex<Vec<Behaviour>>>,
    requests: Arc<Mutex<Vec<Value>>>,
    _time: SteadyTime,
}

impl Endpoint {
    /// Starts an endpoint with one behaviour per request; the last behavior is repeated.
    pub(crate) async fn start(behaviours: Vec<Behaviour>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let behaviours = Arc::new(Mutex::new(behaviours));
        let (seen, planned) = (Arc::clone(&requests), Arc::clone(&behaviours));
        tokio::spawn(async move {
            let mut turn = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let behaviour = planned.lock().unwrap().iter().take(turn + 1).next_back().cloned().unwrap();
                turn += 1;
                tokio::spawn(serve(stream, behaviour, Arc::clone(&seen)));
            }
        });
        Self { url, behaviours, requests, _time: SteadyTime::start() }
    }

    /// Adds a behaviour for all requests after those that have been planned.
    pub(crate) fn then(&self, behaviour: Behaviour) {
        self.behaviours.lock().unwrap().push(behaviour);
    }

    /// The bodies of the requests that were read completely.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, behaviour: Behaviour, seen: Arc<Mutex<Vec<Value>>>) {
    if matches!(behaviour, Behaviour::CutBeforeReading) {
        return;
    }
    let request = read(&mut stream).await;
    let is_ascii = request["FromEmailAddress"].as_str().is_some_and(str::is_ascii);
    seen.lock().unwrap().push(request);
    let refusal = || Behaviour::Answer(400, json!({ "__type": "BadRequestException", "message": "From: not ASCII" }));
    match if is_ascii { behaviour } else { refusal() } {
        Behaviour::Answer(status, body) => {
            let body = body.to_string();
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        }
        Behaviour::CutWhileAnswering => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"Mess").await.unwrap();
        }
        Behaviour::Silence => tokio::time::sleep(Duration::from_secs(60)).await,
        Behaviour::CutBeforeReading | Behaviour::CutAfterReading => {}
    }
}

/// Reads a whole request; returns its body.
async fn read(stream: &mut TcpStream) -> Value {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).await.unwrap();
        assert!(count > 0, "the client closed the connection within its request");
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        assert!(head.starts_with("POST /v2/email/outbound-emails "), "{head}");
        let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok());
        if body.len() >= length.unwrap() {
            return serde_json::from_str(body).unwrap();
        }
    }
}
