//! A receiver of webhooks. The receiver is an HTTP server that stores requests and responds as the
//! test specifies.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use futures_util::StreamExt as _;
use http::HeaderMap;
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::sync::Notify;

use crate::until::until;

/// A request that arrived.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    pub headers: HeaderMap,
    pub body: String,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("{name} is missing")).to_str().unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn event_type(&self) -> String {
        self.json()["type"].as_str().unwrap().to_owned()
    }

    /// Whether one of the signatures matches the signature that the specification's library
    /// computes. The current time is ignored, because a test's clock differs from the machine's
    /// clock.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let at = self.header("webhook-timestamp").parse().unwrap();
        let signature = Webhook::new(secret).unwrap().sign(self.header("webhook-id"), at, self.body.as_bytes()).unwrap();
        self.header("webhook-signature").split(' ').any(|one| one == signature)
    }

    /// Whether the specification's library accepts the message at the current time.
    pub fn is_accepted_with(&self, secret: &str) -> bool {
        Webhook::new(secret).unwrap().verify(self.body.as_bytes(), &self.headers).is_ok()
    }
}

/// How a receiver answers.
#[derive(Debug, Clone)]
pub enum Reply {
    Status(u16),
    /// A status with a body.
    Text(u16, String),
    Redirect(String),
    /// A status that is sent only after [`Receiver::release`].
    Held(u16),
    /// A status and a body that stalls and never ends.
    Endless,
}

#[derive(Clone, Default)]
struct SharedState {
    received: Arc<Mutex<Vec<ReceivedRequest>>>,
    replies: Arc<Mutex<Vec<Reply>>>,
    /// The number of requests that are being handled, and the maximum of this number so far.
    at_once: Arc<AtomicUsize>,
    max_at_once: Arc<AtomicUsize>,
    /// The number of requests that wait for [`Receiver::release`], and the notification that wakes
    /// them.
    held: Arc<AtomicUsize>,
    released: Arc<Notify>,
}

/// A server that receives webhooks.
pub struct Receiver {
    pub url: String,
    shared: SharedState,
}

impl Receiver {
    /// A receiver that responds with 204.
    pub async fn start() -> Self {
        Self::answering(Vec::new()).await
    }

    /// A receiver that sends these replies one after another. The last reply repeats.
    pub async fn answering(replies: Vec<Reply>) -> Self {
        let shared = SharedState { replies: Arc::new(Mutex::new(replies)), ..SharedState::default() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hooks", listener.local_addr().unwrap());
        let router = Router::new().fallback(receive).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    /// Everything that has arrived.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.shared.received.lock().unwrap().clone()
    }

    /// The types of the received events, in order.
    pub fn types(&self) -> Vec<String> {
        self.received().iter().map(ReceivedRequest::event_type).collect()
    }

    /// The maximum number of requests that were handled at the same time.
    pub fn max_at_once(&self) -> usize {
        self.shared.max_at_once.load(Ordering::SeqCst)
    }

    /// The number of requests that are waiting for [`Self::release`].
    pub fn held(&self) -> usize {
        self.shared.held.load(Ordering::SeqCst)
    }

    /// Responds to the requests that are held now ([`Reply::Held`]).
    pub fn release(&self) {
        self.shared.held.store(0, Ordering::SeqCst);
        self.shared.released.notify_waiters();
    }

    /// Waits until exactly this many requests are held, and then responds to them.
    pub async fn release_when(&self, held: usize) {
        until("requests are held", || self.held() == held).await;
        self.release();
    }

    /// From now on, responds with this reply.
    pub fn reply(&self, reply: Reply) {
        *self.shared.replies.lock().unwrap() = vec![reply];
    }
}

async fn receive(State(shared): State<SharedState>, headers: HeaderMap, body: Bytes) -> Response {
    let at_once = shared.at_once.fetch_add(1, Ordering::SeqCst) + 1;
    shared.max_at_once.fetch_max(at_once, Ordering::SeqCst);
    let answer = answer(&shared, headers, body).await;
    shared.at_once.fetch_sub(1, Ordering::SeqCst);
    answer
}

async fn answer(shared: &SharedState, headers: HeaderMap, body: Bytes) -> Response {
    shared.received.lock().unwrap().push(ReceivedRequest { headers, body: String::from_utf8(body.to_vec()).unwrap() });
    let reply = {
        let mut replies = shared.replies.lock().unwrap();
        if replies.len() > 1 { replies.remove(0) } else { replies.first().cloned().unwrap_or(Reply::Status(204)) }
    };
    let answer = |status: u16| Response::builder().status(status);
    match reply {
        Reply::Status(status) => answer(status).body(Body::empty()),
        Reply::Text(status, text) => answer(status).body(Body::from(text)),
        Reply::Redirect(to) => answer(307).header("location", to).body(Body::empty()),
        Reply::Held(status) => {
            let mut released = pin!(shared.released.notified());
            released.as_mut().enable();
            shared.held.fetch_add(1, Ordering::SeqCst);
            released.await;
            answer(status).body(Body::empty())
        }
        Reply::Endless => {
            let begin = futures_util::stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"begun"))]);
            answer(200).body(Body::from_stream(begin.chain(futures_util::stream::pending())))
        }
    }
    .unwrap()
}
