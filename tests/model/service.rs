//! Runs requests in the service until they wait for the table.
//!
//! A run starts the request, and passes it the responses that the table has given so far, in order.
//! The run ends with a response to the client, or with pending calls to the table. The clock is
//! stopped and randomness is seeded, so the same responses lead to the same calls. The state of a
//! client is therefore its responses, and running requests need not be copied.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::http::Operations;
use aws::Endpoint;
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use axum::Router;
use crypto::password::hash::Hasher;
use flows::App;
use futures_util::future::BoxFuture;
use gateway::engine::TABLE;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;
use settings::Settings;
use store::Store;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, oneshot};
use wire::clock::Clock;
use wire::entropy::Entropy;

use crate::call::Call;

/// A task of a client, which calls the service or a part of it.
pub(crate) type Task = Arc<dyn Fn(App, Router) -> BoxFuture<'static, Answer> + Send + Sync>;

/// The last response to a client.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The error code; `None` if the response does not contain one.
    pub(crate) code: Option<String>,
}

/// The result of a call to the table, as the client sees it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Reply {
    Said {
        status: u16,
        body: Arc<str>,
    },
    /// The connection broke before the response arrived.
    Broken,
}

/// The progress of a request.
#[derive(Debug)]
pub(crate) struct Run {
    /// All calls that the request has made so far, in order.
    pub(crate) calls: Vec<Call>,
    /// The positions of the calls without a response so far.
    pub(crate) pending: Vec<usize>,
    pub(crate) answer: Option<Answer>,
    /// The number of random bytes that the request has used.
    pub(crate) drawn: u64,
}

/// How long to watch a request that waits only for the table. The runtime's clock is paused, and
/// advances only when nothing else can happen. The time is longer than the waits before a second
/// and a third attempt, and much shorter than the timeout of an attempt.
const WATCHED: Duration = Duration::from_millis(50);

/// A service whose table responds when the model decides so.
pub(crate) struct Service {
    runtime: Runtime,
    table: PendingTable,
    random: Random,
    app: App,
    router: Router,
}

#[derive(Clone)]
struct Random {
    generator: Arc<Mutex<ChaCha20Rng>>,
    drawn: Arc<AtomicU64>,
}

impl Random {
    fn new() -> Self {
        Self { generator: Arc::new(Mutex::new(ChaCha20Rng::seed_from_u64(0))), drawn: Arc::default() }
    }

    fn seed(&self, seed: u64) {
        *self.generator.lock().unwrap() = ChaCha20Rng::seed_from_u64(seed);
        self.drawn.store(0, Ordering::SeqCst);
    }

    fn entropy(&self) -> Entropy {
        let Self { generator, drawn } = self.clone();
        Entropy::new(move |bytes| {
            drawn.fetch_add(u64::try_from(bytes.len()).unwrap(), Ordering::SeqCst);
            generator.lock().unwrap().fill_bytes(bytes);
        })
    }
}

impl Service {
    pub(crate) fn new(settings: Settings, clock: Clock) -> Self {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let (table, random) = (PendingTable::default(), Random::new());
        let store = Store::at(Endpoint::embedded(), table.clone(), TABLE, random.entropy());
        let app = App::new(settings, store, clock, random.entropy(), Hasher::new(64, 1));
        let mut operations = Operations::new(app.clone());
        registry::all_operations(&mut operations);
        let router = operations.into_router().with_state(app.clone());
        Self { runtime, table, random, app, router }
    }

    /// Runs a task with these responses from the table, each with the position of its call.
    pub(crate) fn run(&self, task: &Task, seed: u64, replies: &[(usize, Reply)]) -> Run {
        self.table.clear();
        self.random.seed(seed);
        self.runtime.block_on(async {
            let mut answer = task(self.app.clone(), self.router.clone());
            for (call, reply) in replies {
                assert!(self.settle(&mut answer).await.is_none(), "the request ended before it received all these responses");
                self.table.answer(*call, reply.clone());
            }
            let answer = self.settle(&mut answer).await;
            let (calls, pending) = self.table.calls();
            Run { calls, pending, answer, drawn: self.random.drawn.load(Ordering::SeqCst) }
        })
    }

    /// Continues until there is a response, or until the request waits only for the table; then
    /// returns `None`.
    async fn settle(&self, answer: &mut Pin<Box<dyn Future<Output = Answer> + Send>>) -> Option<Answer> {
        tokio::select! {
            biased;
            answer = answer => Some(answer),
            () = self.table.is_waited_for() => None,
        }
    }
}

/// A call, with the channel for its response.
type PendingCall = (Call, Option<oneshot::Sender<Reply>>);

/// A table whose calls wait for their responses.
#[derive(Debug, Clone, Default)]
struct PendingTable {
    calls: Arc<Mutex<Vec<PendingCall>>>,
    called: Arc<Notify>,
}

impl PendingTable {
    fn clear(&self) {
        self.calls.lock().unwrap().clear();
    }

    fn answer(&self, call: usize, reply: Reply) {
        let sender = self.calls.lock().unwrap()[call].1.take().unwrap();
        // If another call of the request has failed, the receiver no longer exists.
        sender.send(reply).ok();
    }

    fn calls(&self) -> (Vec<Call>, Vec<usize>) {
        let calls = self.calls.lock().unwrap();
        let pending = calls.iter().enumerate().filter(|(_, (_, sender))| sender.as_ref().is_some_and(|sender| !sender.is_closed()));
        (calls.iter().map(|(call, _)| call.clone()).collect(), pending.map(|(index, _)| index).collect())
    }

    async fn is_waited_for(&self) {
        loop {
            tokio::time::sleep(WATCHED).await;
            if !self.calls().1.is_empty() {
                return;
            }
            // Another thread is hashing a password in real time.
            self.called.notified().await;
        }
    }
}

impl HttpConnector for PendingTable {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let operation = target.rsplit('.').next().unwrap_or_default();
        let body: Value = serde_json::from_slice(request.body().bytes().unwrap_or_default()).unwrap();
        let (sender, receiver) = oneshot::channel();
        self.calls.lock().unwrap().push((Call::new(operation, body), Some(sender)));
        self.called.notify_one();
        HttpConnectorFuture::new(async move {
            match receiver.await {
                Ok(Reply::Said { status, body }) => {
                    let mut response = HttpResponse::new(status.try_into().unwrap(), SdkBody::from(&*body));
                    response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
                    Ok(response)
                }
                Ok(Reply::Broken) | Err(_) => Err(ConnectorError::io(std::io::Error::from(std::io::ErrorKind::ConnectionReset).into())),
            }
        })
    }
}
