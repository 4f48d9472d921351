//! The part of Lambda's Runtime API that a function uses to request an event and to post its
//! response.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

/// A step of the function, as the Runtime API sees it.
#[derive(Debug)]
pub(crate) enum FunctionStep {
    /// The function is idle and requests an event.
    Asks(Instant),
    /// The function got an event at `given`, and responded at `answered`.
    Answers { given: Instant, answered: Instant, body: Bytes },
    /// The function reports that its start or an event failed.
    Fails(Bytes),
}

/// The Runtime API of a function, which stops when this value is dropped.
pub(crate) struct RuntimeApi {
    pub(crate) address: String,
    pub(crate) done: mpsc::UnboundedReceiver<FunctionStep>,
    shared: Arc<SharedState>,
    server: JoinHandle<()>,
}

struct SharedState {
    events: Mutex<VecDeque<String>>,
    more: Notify,
    given: Mutex<Option<Instant>>,
    done: mpsc::UnboundedSender<FunctionStep>,
}

impl RuntimeApi {
    pub(crate) async fn start() -> Self {
        let (sender, done) = mpsc::unbounded_channel();
        let shared = Arc::new(SharedState { events: Mutex::default(), more: Notify::new(), given: Mutex::default(), done: sender });
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(answer))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(failure))
            .route("/2018-06-01/runtime/init/error", post(failure))
            .with_state(Arc::clone(&shared));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, done, shared, server }
    }

    /// Sends the next event to the function.
    pub(crate) fn give(&self, event: String) {
        self.shared.events.lock().unwrap().push_back(event);
        self.shared.more.notify_one();
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn next(State(shared): State<Arc<SharedState>>) -> Response {
    let _ = shared.done.send(FunctionStep::Asks(Instant::now()));
    let event = loop {
        let event = shared.events.lock().unwrap().pop_front();
        match event {
            Some(event) => break event,
            None => shared.more.notified().await,
        }
    };
    let deadline = wire::clock::Clock::system().now().as_millisecond() + 30_000;
    let headers = [
        ("lambda-runtime-aws-request-id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd".to_owned()),
        ("lambda-runtime-deadline-ms", deadline.to_string()),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:eu-central-1:123456789012:function:measured".to_owned()),
        ("lambda-runtime-trace-id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=0".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    *shared.given.lock().unwrap() = Some(Instant::now());
    (headers, event).into_response()
}

async fn answer(State(shared): State<Arc<SharedState>>, body: Bytes) -> StatusCode {
    let answered = Instant::now();
    let given = shared.given.lock().unwrap().take().unwrap_or(answered);
    let _ = shared.done.send(FunctionStep::Answers { given, answered, body });
    StatusCode::ACCEPTED
}

async fn failure(State(shared): State<Arc<SharedState>>, body: Bytes) -> StatusCode {
    let _ = shared.done.send(FunctionStep::Fails(body));
    StatusCode::ACCEPTED
}
