//! The service of a gateway: serves the routers of all areas on one port, and runs the workers as
//! tasks.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use api::http::client::PeerAddress;
use api::http::version::resolved;
use api::http::{Operations, with_fallbacks};
use api::product::header_family::names;
use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use crypto::password::hash::Hasher;
use email::smtp::{ProjectMailer, Smtp};
use flows::App;
use jiff::Timestamp;
use settings::Settings;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tower::ServiceExt as _;
use wire::clock::Clock;
use wire::entropy::Entropy;
use wire::id::ProjectId;
use workers::outbox::Outbox;
use workers::webhooks::Courier;

use crate::compression::compressed;
use crate::engine::Engine;
use crate::inbox::Inbox;
use crate::pages::{self, Extent, PrivateDetails};

/// How often the outbox worker and the webhook worker look for work without being woken: nothing
/// wakes them when a scheduled email or a retry becomes due, or when a lease expires.
const PATROL: Duration = Duration::from_millis(500);

/// The parts of a gateway. Tests replace the clock and the entropy.
pub struct Parts {
    pub settings: Settings,
    pub engine: Engine,
    pub inbox: Inbox,
    pub clock: Clock,
    pub entropy: Entropy,
    pub hasher: Hasher,
    /// Details for the private pages; `None` disables these pages.
    pub private_pages: Option<PrivateDetails>,
}

/// A gateway that is ready for requests.
pub struct Service {
    pub app: App,
    pub router: Router,
    pub inbox: Inbox,
    engine: Engine,
}

impl Service {
    pub fn new(parts: Parts) -> Self {
        Self::build(parts, Extent::Public)
    }

    /// A gateway. If the gateway has no private pages, its console requires users to sign in.
    pub fn with_console(parts: Parts) -> Self {
        Self::build(parts, Extent::Console)
    }

    /// A gateway with private pages or, without them, with the pages of `otherwise`.
    fn build(parts: Parts, otherwise: Extent) -> Self {
        let Parts { settings, engine, inbox, clock, entropy, hasher, private_pages } = parts;
        let app = App::new(settings, engine.store(), clock, entropy, hasher);
        let mut operations = Operations::new(app.clone());
        registry::all_operations(&mut operations);
        let fallback: Router = registry::fallback::router(&app).with_state(app.clone());
        let operations = with_fallbacks(operations.into_router(), fallback.clone(), fallback);
        let operations: Router = operations.with_state(app.clone());
        let router = pages::with_pages(operations, inbox.clone(), private_pages.map_or(otherwise, Extent::Private), &app);
        // `as_received` wraps the whole router, because paths must be normalized before routes are
        // matched.
        let router = Router::new().fallback_service(router.map_request(as_received));
        let router = router.layer(from_fn(compressed)).layer(from_fn(logged));
        Self { app, router, inbox, engine }
    }

    /// Starts the outbox worker, which delivers a project's emails to its mail server or, if the
    /// project has none, to the inbox. When `stop` changes, the worker completes the current step,
    /// sends the emails that it has begun to send, and stops. With `sends_alone` (no other process
    /// sends emails), the worker first resolves the emails that a killed worker left unfinished.
    pub fn spawn_worker(&self, smtp: Smtp, sends_alone: bool, mut stop: watch::Receiver<bool>) -> JoinHandle<()> {
        let (app, engine, inbox) = (self.app.clone(), self.engine.clone(), self.inbox.clone());
        let mailer = ProjectMailer { own: smtp, deployments: self.inbox.clone() };
        tokio::spawn(async move {
            if sends_alone {
                recover(&app, &inbox).await;
            }
            let mut outbox = Outbox::new(&app, &mailer, Timestamp::MAX);
            while !*stop.borrow() {
                match outbox.step().await {
                    Ok(0) => {}
                    Ok(_) => continue,
                    Err(error) => tracing::error!(%error, "the outbox worker cannot read or write the table"),
                }
                let pause = async {
                    tokio::select! {
                        () = engine.outbox_changed() => tokio::time::sleep(APART).await,
                        () = tokio::time::sleep(PATROL) => {}
                        _ = stop.changed() => {}
                    }
                };
                outbox.beside(pause).await;
            }
            outbox.finish().await;
        })
    }
}

/// Resolves emails that an earlier process left unfinished, by looking for them in the inbox. If
/// the lookup fails, the emails wait until their leases expire.
async fn recover(app: &App, inbox: &Inbox) {
    let arrived = |id, attempt| inbox.has(id, attempt).inspect_err(|error| tracing::error!(%error, "cannot query the inbox")).ok();
    match workers::recovery::recover(app, &arrived).await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "settled emails that were being sent when the gateway was stopped"),
        Err(error) => tracing::error!(%error, "cannot settle the emails that were being sent"),
    }
}

/// How long the outbox worker waits before it sends a new email. Without this wait, rendering and
/// sending would delay the response to the request, which would thus reveal whether the address is
/// known: an unknown address gets no email.
const APART: Duration = Duration::from_millis(25);
/// How often the deletion worker looks for deletions that are not complete.
const ENDINGS: Duration = Duration::from_secs(10);
/// The maximum duration of a step of the deletion worker.
const ENDINGS_STEP: Duration = Duration::from_secs(60);

/// How often expired items are deleted.
const EXPIRY: Duration = Duration::from_secs(3600);
/// The time from the start of the gateway until it first deletes expired items.
const FIRST_EXPIRY: Duration = Duration::from_secs(60);

/// How often unused memory is freed. The memory for password hashes is kept for at least this long
/// after the last hash was computed.
const RELEASE: Duration = Duration::from_secs(5);

impl Service {
    /// Starts the task that frees unused memory: that of password hashes, and that of expired kept
    /// items. The task stops when `stop` changes.
    pub fn spawn_release(&self, mut stop: watch::Receiver<bool>) -> JoinHandle<()> {
        let (app, engine) = (self.app.clone(), self.engine.clone());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = tokio::time::sleep(RELEASE) => {
                        app.hasher.release();
                        engine.release();
                    }
                    _ = stop.changed() => return,
                }
            }
        })
    }

    /// Starts the task that deletes expired items. DynamoDB does this automatically. The task stops
    /// when `stop` changes.
    pub fn spawn_expiry(&self, mut stop: watch::Receiver<bool>) -> JoinHandle<()> {
        let engine = self.engine.clone();
        tokio::spawn(async move {
            let mut wait = FIRST_EXPIRY;
            loop {
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    _ = stop.changed() => return,
                }
                match engine.expire().await {
                    Ok(0) => {}
                    Ok(count) => tracing::info!(count, "deleted expired items"),
                    Err(error) => tracing::error!(%error, "cannot delete expired items"),
                }
                wait = EXPIRY;
            }
        })
    }

    /// Starts the worker that completes deletions. When `stop` changes, the worker stops after the
    /// current step.
    pub fn spawn_endings(&self, mut stop: watch::Receiver<bool>) -> JoinHandle<()> {
        let app = self.app.clone();
        tokio::spawn(async move {
            while !*stop.borrow() {
                if let Err(error) = workers::endings::step(&app, Instant::now() + ENDINGS_STEP).await {
                    tracing::error!(%error, "the deletion worker cannot read or write the table");
                }
                tokio::select! {
                    () = tokio::time::sleep(ENDINGS) => {}
                    _ = stop.changed() => {}
                }
            }
        })
    }
}

/// How long new entries of audit trails are collected before they are linked into the chains.
const GATHERED: Duration = Duration::from_secs(1);
/// How long to wait before another attempt if linking a trail has failed.
const LINKED_AGAIN: Duration = Duration::from_secs(10);

impl Service {
    /// Starts the worker that links the entries of audit trails into their chains. The worker
    /// begins with all projects, because an earlier process may have been killed before linking,
    /// and continues with projects that have new entries. When `stop` changes, the worker links the
    /// remaining entries and stops.
    pub fn spawn_trail(&self, mut stop: watch::Receiver<bool>) -> JoinHandle<()> {
        let (app, engine) = (self.app.clone(), self.engine.clone());
        tokio::spawn(async move {
            let mut waiting = projects(&app).await;
            loop {
                let is_last = *stop.borrow();
                waiting.extend(engine.changed_trails());
                waiting = link(&app, waiting).await;
                if is_last {
                    return;
                }
                let has_failed = !waiting.is_empty();
                tokio::select! {
                    () = engine.trail_changed() => tokio::select! {
                        () = tokio::time::sleep(GATHERED) => {}
                        _ = stop.changed() => {}
                    },
                    () = tokio::time::sleep(LINKED_AGAIN), if has_failed => {}
                    _ = stop.changed() => {}
                }
            }
        })
    }
}

async fn projects(app: &App) -> BTreeSet<ProjectId> {
    let lines = app
        .store
        .projects()
        .await
        .inspect_err(|error| tracing::error!(%error, "cannot list the projects whose audit trails must be linked"));
    lines.unwrap_or_default().into_iter().map(|line| line.id).collect()
}

/// Links the new trail entries of `projects`; returns the projects whose entries could not be
/// linked.
async fn link(app: &App, projects: BTreeSet<ProjectId>) -> BTreeSet<ProjectId> {
    let mut failed = BTreeSet::new();
    for project in projects {
        if let Err(error) = workers::trail::link(app, &project).await {
            tracing::error!(%error, %project, "could not link the new entries of an audit trail into its chain; this will be retried");
            failed.insert(project);
        }
    }
    failed
}

impl Service {
    /// Starts the webhook worker, which records the events of changes and delivers the events. When
    /// `stop` changes, the worker begins no further deliveries, and stops once the running
    /// deliveries have ended. With `works_alone` (no other process delivers events), the worker
    /// first frees the endpoints that a killed worker has claimed.
    pub fn spawn_webhooks(&self, works_alone: bool, mut stop: watch::Receiver<bool>) -> JoinHandle<()> {
        let (app, engine) = (self.app.clone(), self.engine.clone());
        tokio::spawn(async move {
            if works_alone && let Err(error) = app.store.free_webhooks(app.clock.now()).await {
                tracing::error!(%error, "cannot free the webhook endpoints of an earlier process");
            }
            let mut courier = Courier::default();
            while !*stop.borrow() {
                let is_busy = match step(&app, &engine, &mut courier).await {
                    Ok(is_busy) => is_busy,
                    Err(error) => {
                        tracing::error!(%error, "the webhook worker cannot read or write the table");
                        false
                    }
                };
                if is_busy {
                    continue;
                }
                tokio::select! {
                    () = engine.fed() => {}
                    true = courier.ended() => {}
                    () = tokio::time::sleep(PATROL) => {}
                    _ = stop.changed() => {}
                }
            }
            while courier.ended().await {}
        })
    }
}

/// Records the events of the next changes, and begins the deliveries that are due. Returns whether
/// there were changes, because there may be more.
async fn step(app: &App, engine: &Engine, courier: &mut Courier) -> Result<bool, store::Error> {
    let batch = engine.changes().await?;
    let is_busy = batch.is_some();
    if let Some(batch) = batch {
        workers::trail::process_carried(app, &batch.event).await?;
        workers::webhooks::record(app, &batch.event).await?;
        engine.finish(batch).await?;
    }
    courier.begin(app, Timestamp::MAX).await?;
    Ok(is_busy)
}

/// Logs the result of each request (`GATELET_LOG=info`).
async fn logged(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = next.run(request).await;
    let request_id = names("request-id").find_map(|name| response.headers().get(name)?.to_str().ok());
    tracing::info!(%method, path, status = response.status().as_u16(), request_id, "answered");
    response
}

/// Stores the peer's address where handlers expect the client's, unless the server has already
/// stored an address there. Also normalizes the path to the form that routes use.
fn as_received(mut request: Request) -> Request {
    if request.extensions().get::<PeerAddress>().is_none() {
        let address = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| PeerAddress(peer.0.ip().to_canonical()));
        request.extensions_mut().insert(address.unwrap_or_default());
    }
    *request.uri_mut() = resolved(request.uri());
    request
}
