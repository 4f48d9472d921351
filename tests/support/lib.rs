//! The basis of every test of the API. Runs the whole service in this process, on an embedded
//! engine in memory, with a clock and an inbox for the test. Requests pass through all layers as
//! HTTP types, without a socket.
#![expect(clippy::unwrap_used, reason = "a test fails if something is missing")]

pub mod authenticator;
mod authorization;
mod caller;
pub mod expensive_rules;
mod faults;
mod issuer_key;
mod kept_log;
pub mod mail_server;
mod mails;
pub mod provider;
mod provider_edits;
mod provider_fault;
pub mod receiver;
pub mod record;
pub mod roles;
pub mod secrets;
mod shell;
pub mod stand_in;
pub mod steady_time;
mod table;
mod tasks;
pub mod trace;
pub mod turnstile;
pub mod until;
mod users;
pub mod webhooks;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::Router;
use crypto::password::hash::Hasher;
use dynoxide::Database;
use flows::App;
use gateway::engine::Engine;
use gateway::inbox::Inbox;
use gateway::keys::Keys;
use gateway::service::{Parts, Service};
use jiff::{SignedDuration, Timestamp};
use model::content::Content;
use model::limit::Limits;
use model::project::own_pages::OwnPages;
use model::setting::senders::Senders;
use settings::Settings;
use wire::id::ProjectId;

pub use caller::{Answer, Caller, RequestBuilder};
pub use faults::{ConsumedUnits, InjectedError, ROUND_TRIP, Recorder, is_write, refused};
pub use kept_log::KeptLog;
pub use mails::Mail;
pub use table::{Items, Rows};
pub use users::{SignedInUser, authenticator_code};

use crate::shell::Shell;
use crate::stand_in::StandIn;
use crate::table::{Image, Table};

/// The base URL of the service in a test.
pub const API_URL: &str = "http://localhost:8787";

/// The time when a test's clock starts.
pub const START: &str = "2026-01-01T12:00:00Z";

/// The service of one test, with one project.
pub struct TestApp {
    pub app: App,
    pub keys: Keys,
    pub inbox: Inbox,
    pub recorder: Arc<Recorder>,
    engine: Engine,
    router: Router,
    now: Arc<AtomicI64>,
    table: Arc<Table>,
    is_observed: bool,
}

/// A snapshot of a service's table. Services that start from the snapshot are observed like the
/// original service.
pub struct Snapshot {
    table: Arc<Image>,
    keys: Keys,
    now: i64,
    seed: u64,
    is_observed: bool,
}

impl Snapshot {
    /// The same snapshot, but services start from it like [`TestApp::start_unobserved`].
    #[must_use]
    pub fn unobserved(&self) -> Self {
        Self { table: Arc::clone(&self.table), keys: copy(&self.keys), is_observed: false, ..*self }
    }
}

impl TestApp {
    /// A service whose project permits passwords, magic links, sign-up and localhost.
    ///
    /// Limits are off, because most tests send more requests than users would.
    pub async fn start() -> Self {
        Self::start_with(Limits::off()).await
    }

    /// Like [`TestApp::start`], with these limits.
    pub async fn start_with(limits: Limits) -> Self {
        // The parameters of argon2 are the cheapest valid parameters, because these tests do not
        // check its cost.
        Self::start_hashing(limits, Hasher::new(64, 1)).await
    }

    /// Like [`TestApp::start`], but reads items as a gateway does, without requests to DynamoDB.
    /// Avoiding these requests halves the work, which matters in tests with thousands of requests.
    /// The recorder does not see reads.
    pub async fn start_unobserved() -> Self {
        Self::install(Shell::new(settings(Limits::off()), Hasher::new(64, 1), false).await).await
    }

    /// Like [`TestApp::start`], with an email quota.
    pub async fn start_sending(mails_per_hour: u32) -> Self {
        Self::start_as(Settings { mails_per_hour: Some(mails_per_hour), ..settings(Limits::off()) }, Hasher::new(64, 1)).await
    }

    /// Like [`TestApp::start_with`], with different parameters of the password hash.
    pub async fn start_hashing(limits: Limits, hasher: Hasher) -> Self {
        Self::start_as(settings(limits), hasher).await
    }

    /// Like [`TestApp::start`], with a stand-in for all providers of the catalog.
    pub async fn start_at(provider: &StandIn) -> Self {
        let settings = Settings { provider_stand_in: Some(provider.url.clone()), ..settings(Limits::off()) };
        Self::start_as(settings, Hasher::new(64, 1)).await
    }

    /// A service with these limits that starts from a snapshot of another service's table.
    pub async fn start_from(snapshot: &Snapshot, limits: Limits) -> Self {
        Self::start_from_as(snapshot, &format!("{limits:?}"), || settings(limits)).await
    }

    /// Like [`TestApp::start_from`], with a stand-in for all providers of the catalog.
    pub async fn start_from_at(snapshot: &Snapshot, limits: Limits, provider: &StandIn) -> Self {
        let settings = || Settings { provider_stand_in: Some(provider.url.clone()), ..settings(limits) };
        Self::start_from_as(snapshot, &format!("{limits:?} {}", provider.url), settings).await
    }

    /// Like [`TestApp::start_from_at`], with the same random numbers each time.
    pub fn start_equal_at(snapshot: &Snapshot, limits: Limits, provider: &StandIn) -> Self {
        let settings = Settings { provider_stand_in: Some(provider.url.clone()), ..settings(limits) };
        let shell = Shell::with(settings, snapshot.seed, &snapshot.table, snapshot.is_observed);
        shell.now.store(snapshot.now, Ordering::SeqCst);
        Self::of(shell, copy(&snapshot.keys))
    }

    /// A service that starts from a snapshot of another service's table. Its projects may send from
    /// the domains and addresses in `list`.
    pub async fn start_sending_from(snapshot: &Snapshot, list: &str) -> Self {
        let senders = || Senders::new(settings(Limits::off()).senders.own().to_owned(), list).unwrap();
        let settings = || Settings { senders: senders(), ..settings(Limits::off()) };
        Self::start_from_as(snapshot, &format!("senders {list}"), settings).await
    }

    /// `kind` is a name for these settings. Services of the same kind share shells.
    async fn start_from_as(snapshot: &Snapshot, kind: &str, settings: impl FnOnce() -> Settings) -> Self {
        let shell = Shell::again(kind, settings, snapshot.seed, &snapshot.table, snapshot.is_observed).await;
        shell.now.store(snapshot.now, Ordering::SeqCst);
        Self::of(shell, copy(&snapshot.keys))
    }

    /// A snapshot of the table, which other services can start from. The new services get a
    /// different random seed, so no id is issued twice.
    pub fn snapshot(&self) -> Snapshot {
        let seed = u64::from_be_bytes(self.app.entropy.bytes());
        let (table, now) = (Arc::new(self.table.image()), self.now.load(Ordering::SeqCst));
        Snapshot { table, keys: copy(&self.keys), now, seed, is_observed: self.is_observed }
    }

    async fn start_as(settings: Settings, hasher: Hasher) -> Self {
        Self::install(Shell::new(settings, hasher, true).await).await
    }

    async fn install(shell: Shell) -> Self {
        let keys = Keys::generate(&shell.app.entropy, ProjectId::from(shell.app.entropy.uuid()));
        keys.install(&shell.engine.store(), &shell.app.clock, &shell.app.entropy).await.unwrap();
        shell.recorder.clear();
        Self::of(shell, keys)
    }

    fn of(shell: Shell, keys: Keys) -> Self {
        let Shell { app, inbox, recorder, engine, router, now, table, is_observed, .. } = shell;
        Self { app, keys, inbox, recorder, engine, router, now, table, is_observed }
    }

    /// The router, for tests that serve it over HTTP.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// The engine behind the table, for tests that bypass the service.
    pub fn database(&self) -> Database {
        self.engine.database()
    }

    /// A service on the same table, with different settings.
    pub fn redeployed(&self, change: impl FnOnce(&mut Settings)) -> Self {
        let Parts { mut settings, .. } = self.parts();
        change(&mut settings);
        self.served_by(Service::new(Parts { settings, ..self.parts() }))
    }

    /// The service as functions on AWS, on the same table. New sessions contain their trail entries
    /// until [`Self::process_trail`] adds the entries to the trails.
    pub fn as_functions(&self) -> Self {
        let Parts { engine, .. } = self.parts();
        self.served_by(Service::new(Parts { engine: engine.carrying_entries(), ..self.parts() }))
    }

    fn served_by(&self, service: Service) -> Self {
        Self {
            app: service.app,
            keys: copy(&self.keys),
            inbox: self.inbox.clone(),
            recorder: Arc::clone(&self.recorder),
            engine: self.engine.clone(),
            router: service.router,
            now: Arc::clone(&self.now),
            table: Arc::clone(&self.table),
            is_observed: self.is_observed,
        }
    }

    fn parts(&self) -> Parts {
        Parts {
            settings: self.app.settings.clone(),
            engine: self.engine.clone(),
            inbox: self.inbox.clone(),
            clock: self.app.clock.clone(),
            entropy: self.app.entropy.clone(),
            hasher: Hasher::new(64, 1),
            private_pages: None,
        }
    }

    /// All items of the table by key. Tests use them, for example, to check that a failed request
    /// has left nothing behind.
    pub fn table(&self) -> Items {
        self.rows().items()
    }

    /// All items of the table as stored, for tests that compare many tables.
    pub fn rows(&self) -> Rows {
        self.table.rows()
    }

    pub fn advance(&self, by: SignedDuration) {
        self.now.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }

    pub fn now(&self) -> Timestamp {
        self.app.clock.now()
    }

    pub fn project_id(&self) -> &ProjectId {
        &self.keys.project_id
    }

    /// Replaces the public content.
    pub async fn publish(&self, content: &Content) {
        self.app.store.publish(content, self.now()).await.unwrap();
    }

    /// Changes the project's settings as an administrator.
    pub async fn configure(&self, patch: serde_json::Value) {
        let answer = self.admin().patch("/api/v1/internal/projects/current", patch).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
    }

    /// Creates the project `internal` with sign-up enabled, and returns its keys.
    pub async fn internal_project(&self) -> Keys {
        let keys = Keys::generate(&self.app.entropy, ProjectId::internal());
        keys.install(&self.app.store, &self.app.clock, &self.app.entropy).await.unwrap();
        let mut row = self.app.store.project(&keys.project_id).await.unwrap().unwrap();
        row.project.config.sign_up_enabled = true;
        self.app.store.update_project(&row.project, row.version, None).await.unwrap();
        keys
    }

    /// Deletes items that have expired according to this machine's clock, as a gateway does every
    /// hour.
    pub async fn delete_expired(&self) -> usize {
        self.engine.expire().await.unwrap()
    }

    /// Creates another project in the same table, and returns the project's keys.
    pub async fn another_project(&self) -> Keys {
        let keys = Keys::generate(&self.app.entropy, ProjectId::from(self.app.entropy.uuid()));
        keys.install(&self.app.store, &self.app.clock, &self.app.entropy).await.unwrap();
        keys
    }
}

fn copy(keys: &Keys) -> Keys {
    Keys { project_id: keys.project_id.clone(), client: keys.client.clone(), server: keys.server.clone(), admin: keys.admin.clone() }
}

fn settings(limits: Limits) -> Settings {
    Settings {
        api_url: API_URL.to_owned(),
        own_pages: OwnPages::new(API_URL, None).unwrap(),
        site_url: "https://site.example".to_owned(),
        secret: "a deployment secret for tests alone".to_owned().into(),
        origin_secret: None,
        allows_direct: false,
        trust_viewer_headers: true,
        access_token_life: std::time::Duration::from_secs(600),
        project_cache_seconds: 0,
        limits,
        stage: None,
        senders: Senders::new("noreply@example.com".to_owned(), "*").unwrap(),
        mails_per_hour: None,
        development: true,
        allow_private_issuers: true,
        mail_relays: settings::mail_relays::MailRelays::default(),
        provider_stand_in: None,
        shared_clients: model::provider::shared::SharedClients::default(),
        security_contact: None,
        images_bucket: None,
    }
}
