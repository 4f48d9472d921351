//! The service of a gateway: the routers of all areas on one port, and the workers as tasks.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use api::http::client::PeerAddress;
use api::http::version::resolved;
use api::http::{Register, Route, Signature, layered};
use api::product::header_family::names;
use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::handler::Handler;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use crypto::password::hash::Hasher;
use email::smtp::{ByProject, Smtp};
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

use crate::engine::Engine;
use crate::inbox::Inbox;
use crate::pages::{self, Private};

/// How often the worker looks without being told: scheduled mails and leases come due by time alone.
const PATROL: Duration = Duration::from_millis(500);

/// What a gateway is made of; tests bring their own clock and entropy.
pub struct Parts {
    pub settings: Settings,
    pub engine: Engine,
    pub inbox: Inbox,
    pub clock: Clock,
    pub entropy: Entropy,
    pub hasher: Hasher,
    /// What the pages of this machine show; without it there are none.
    pub private_pages: Option<Private>,
}

/// A gateway, ready to answer.
pub struct Service {
    pub app: App,
    pub router: Router,
    pub inbox: Inbox,
    engine: Engine,
}

/// Merges the routers of operations.
struct Gateway {
    app: App,
    router: Router<App>,
}

impl Register for Gateway {
    fn operation<H, T>(&mut self, route: Route, handler: H)
    where
        H: Handler<T, App> + Signature<T>,
        T: 'static,
    {
        let methods = layered(&self.app, route, axum::routing::on(route.verb.filter(), handler));
        self.router = std::mem::take(&mut self.router).route(route.path, methods);
    }
}

impl Service {
    pub fn new(parts: Parts) -> Self {
        let Parts { settings, engine, inbox, clock, entropy, hasher, private_pages } = parts;
        let app = App::new(settings, engine.store(), clock, entropy, hasher);
        let mut gateway = Gateway { app: app.clone(), router: Router::new() };
        edge_functions::all_operations(&mut gateway);
        let fallback: Router = edge_functions::fallback::router(&app).with_state(app.clone());
        let operations = gateway.router.fallback_service(fallback.clone()).method_not_allowed_fallback(move |request: Request| {
            let fallback = fallback.clone();
            async move {
                use axum::response::IntoResponse as _;
                use tower::ServiceExt as _;
                fallback.oneshot(request).await.into_response()
            }
        });
        let operations: Router = operations.with_state(app.clone());
        let router = pages::with_pages(operations, inbox.clone(), private_pages, &app);
        // Around the router, not in it: the path is settled before anything is matched.
        let router = Router::new().fallback_service(router.map_request(as_received)).layer(from_fn(logged));
        Self { app, router, inbox, engine }
    }

    /// Starts the outbox worker, whose mails go into the inbox, and those of projects with a mail server of their own there. It stops after the
    /// step that it is in once `stop` changes. Where nobody else sends, it first settles what a worker that was killed had begun.
    pub fn spawn_worker(&self, smtp: Smtp, sends_alone: bool, mut stop: watch::Receiver<bool>) -> JoinHandle<()> {
        let (app, engine, inbox) = (self.app.clone(), self.engine.clone(), self.inbox.clone());
        let mailer = ByProject { own: smtp, deployments: self.inbox.clone() };
        tokio::spawn(async move {
            if sends_alone {
                recover(&app, &inbox).await;
            }
            while !*stop.borrow() {
                match workers::outbox::step(&app, &mailer, Timestamp::MAX).await {
                    Ok(0) => {}
                    Ok(_) => continue,
                    Err(error) => tracing::error!(%error, "the outbox worker cannot read the table"),
                }
                tokio::select! {
                    () = engine.outbox_changed() => tokio::time::sleep(APART).await,
                    () = tokio::time::sleep(PATROL) => {}
                    _ = stop.changed() => {}
                }
            }
        })
    }
}

/// Settles what a worker of an earlier process had begun, by what arrived in the inbox. What fails is left to its lease.
async fn recover(app: &App, inbox: &Inbox) {
    let arrived = |id, attempt| inbox.has(id, attempt).inspect_err(|error| tracing::error!(%error, "the inbox cannot be asked")).ok();
    match workers::recovery::recover(app, &arrived).await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "settled emails that were on their way when the gateway was stopped"),
        Err(error) => tracing::error!(%error, "emails that were on their way cannot be settled now"),
    }
}

/// How long the outbox worker leaves a new email alone. A request that sends none, as the address is unknown, must not be answered sooner
/// than one whose email is rendered and sent beside it.
const APART: Duration = Duration::from_millis(25);
/// How often deletions that were begun are looked for.
const ENDINGS: Duration = Duration::from_secs(10);
/// How long a step of them takes at most.
const ENDINGS_STEP: Duration = Duration::from_secs(60);

/// How often expired items are deleted, and how long after the start for the first time.
const EXPIRY: Duration = Duration::from_secs(3600);
const FIRST_EXPIRY: Duration = Duration::from_secs(60);

impl Service {
    /// Starts what deletes expired items, which DynamoDB does by itself; it is ended with the process.
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
                    Err(error) => tracing::error!(%error, "expired items cannot be deleted"),
                }
                wait = EXPIRY;
            }
        })
    }

    /// Starts the worker that ends deletions; it stops between two steps, or is ended with the process.
    pub fn spawn_endings(&self, mut stop: watch::Receiver<bool>) -> JoinHandle<()> {
        let app = self.app.clone();
        tokio::spawn(async move {
            while !*stop.borrow() {
                if let Err(error) = workers::endings::step(&app, Instant::now() + ENDINGS_STEP).await {
                    tracing::error!(%error, "the worker of deletions cannot read the table");
                }
                tokio::select! {
                    () = tokio::time::sleep(ENDINGS) => {}
                    _ = stop.changed() => {}
                }
            }
        })
    }
}

/// How long entries are gathered for a link.
const GATHERED: Duration = Duration::from_secs(1);
/// After how long a trail is tried again that could not be linked.
const LINKED_AGAIN: Duration = Duration::from_secs(10);

impl Service {
    /// Starts the worker that links trails: those of all projects once, as an earlier process may have been killed, then whatever is
    /// written. Once `stop` changes, it links what is there and stops.
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
    let lines = app.store.projects().await.inspect_err(|error| tracing::error!(%error, "trails cannot be looked through now"));
    lines.unwrap_or_default().into_iter().map(|line| line.id).collect()
}

/// Links the trails of some projects; gives those that could not be.
async fn link(app: &App, projects: BTreeSet<ProjectId>) -> BTreeSet<ProjectId> {
    let mut failed = BTreeSet::new();
    for project in projects {
        if let Err(error) = workers::trail::link(app, &project).await {
            tracing::error!(%error, %project, "a trail cannot be linked now");
            failed.insert(project);
        }
    }
    failed
}

/// Says of each request how it was answered, to who wants to know (`GATELET_LOG=info`).
async fn logged(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = next.run(request).await;
    let request_id = names("request-id").find_map(|name| response.headers().get(name)?.to_str().ok());
    tracing::info!(%method, path, status = response.status().as_u16(), request_id, "answered");
    response
}

/// Puts the address of the connection where handlers look for it, unless the server knows a better one, and names the path as its route does.
fn as_received(mut request: Request) -> Request {
    if request.extensions().get::<PeerAddress>().is_none() {
        let address = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| PeerAddress(peer.0.ip().to_canonical()));
        request.extensions_mut().insert(address.unwrap_or_default());
    }
    *request.uri_mut() = resolved(request.uri());
    request
}
