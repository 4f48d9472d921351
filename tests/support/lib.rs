//! The basis of every test of the API: the whole service in process, on an embedded engine in
//! memory, with a clock that the test controls and an inbox that it reads. Requests go through
//! HTTP's types and all layers, but not through sockets.
#![expect(clippy::unwrap_used, reason = "a test fails if something is missing")]

pub mod authenticator;
mod caller;
mod faults;
mod kept_log;
pub mod mail_server;
mod mails;
pub mod provider;
pub mod receiver;
pub mod record;
pub mod roles;
pub mod secrets;
pub mod stand_in;
mod tasks;
pub mod trace;
pub mod turnstile;
mod users;
pub mod webhooks;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

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
use model::project::senders::Senders;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use settings::Settings;
use wire::clock::Clock;
use wire::entropy::Entropy;
use wire::id::ProjectId;

pub use caller::{Answer, Caller, RequestBuilder};
pub use faults::{Consumed, Fault, ROUND_TRIP, Recorder, refused};
pub use kept_log::KeptLog;
pub use mails::Mail;
pub use users::{SignedIn, authenticator_code};

use crate::stand_in::StandIn;

/// The base URL of the service in a test.
pub const API_URL: &str = "http://localhost:8787";

/// The time at which the clock of a test starts.
pub const START: &str = "2026-01-01T12:00:00Z";

/// The items of a table by partition and sort key.
pub type Items = BTreeMap<(String, String), serde_json::Value>;

/// The service of one test, with one project.
pub struct TestApp {
    pub app: App,
    pub keys: Keys,
    pub inbox: Inbox,
    pub recorder: Arc<Recorder>,
    engine: Engine,
    router: Router,
    now: Arc<AtomicI64>,
}

/// A snapshot of a service's table.
pub struct Snapshot {
    file: PathBuf,
    keys: Keys,
    now: i64,
    seed: u64,
}

/// The folder for snapshots of tables. Snapshots older than an hour are deleted, as their processes
/// have ended.
fn snapshots() -> PathBuf {
    let folder = record::scratch().join("snapshots");
    std::fs::create_dir_all(&folder).unwrap();
    let hour = std::time::Duration::from_secs(3600);
    for file in std::fs::read_dir(&folder).unwrap().flatten() {
        let is_old = file.metadata().and_then(|it| it.modified()).is_ok_and(|at| at.elapsed().is_ok_and(|age| age > hour));
        if is_old {
            // Another process may have deleted the file already.
            std::fs::remove_file(file.path()).ok();
        }
    }
    folder
}

impl TestApp {
    /// A service whose project has password, magic link, sign-up and localhost enabled.
    ///
    /// Its limits are off, as tests of other features send more requests than users do.
    pub async fn start() -> Self {
        Self::start_with(Limits::off()).await
    }

    /// Like [`TestApp::start`], with these limits.
    pub async fn start_with(limits: Limits) -> Self {
        // The cheapest valid parameters of argon2, as these tests are not about its cost.
        Self::start_hashing(limits, Hasher::new(64, 1)).await
    }

    /// Like [`TestApp::start`], with an email quota.
    pub async fn start_sending(mails_per_hour: u32) -> Self {
        Self::start_as(Settings { mails_per_hour: Some(mails_per_hour), ..settings(Limits::off()) }, Hasher::new(64, 1)).await
    }

    /// Like [`TestApp::start_with`], with other parameters of the password hash.
    pub async fn start_hashing(limits: Limits, hasher: Hasher) -> Self {
        Self::start_as(settings(limits), hasher).await
    }

    /// Like [`TestApp::start`], with a stand-in that gets the requests to all providers of the
    /// catalog.
    pub async fn start_at(provider: &StandIn) -> Self {
        let settings = Settings { provider_stand_in: Some(provider.url.clone()), ..settings(Limits::off()) };
        Self::start_as(settings, Hasher::new(64, 1)).await
    }

    /// A service with these limits that starts from a snapshot of another service's table.
    pub async fn start_from(snapshot: &Snapshot, limits: Limits) -> Self {
        Self::start_from_as(snapshot, settings(limits)).await
    }

    /// A service that starts from a snapshot of another service's table. Its projects may send from
    /// the domains and addresses in `list`.
    pub async fn start_sending_from(snapshot: &Snapshot, list: &str) -> Self {
        let senders = Senders::new(settings(Limits::off()).senders.own().to_owned(), list).unwrap();
        Self::start_from_as(snapshot, Settings { senders, ..settings(Limits::off()) }).await
    }

    async fn start_from_as(snapshot: &Snapshot, settings: Settings) -> Self {
        let app = Self::assemble(settings, Hasher::new(64, 1), snapshot.seed, Some(copy(&snapshot.keys))).await;
        app.engine.database().restore_from(snapshot.file.to_str().unwrap()).unwrap();
        app.now.store(snapshot.now, Ordering::SeqCst);
        app
    }

    /// A snapshot of the table, for other services to start from; `seed` seeds their randomness.
    pub fn snapshot(&self, name: &str, seed: u64) -> Snapshot {
        let file = snapshots().join(format!("{name}-{}.sqlite", std::process::id()));
        // A process with the same id may have left one.
        std::fs::remove_file(&file).ok();
        self.engine.database().vacuum_into(file.to_str().unwrap()).unwrap();
        Snapshot { file, keys: copy(&self.keys), now: self.now.load(Ordering::SeqCst), seed }
    }

    async fn start_as(settings: Settings, hasher: Hasher) -> Self {
        let app = Self::assemble(settings, hasher, 1, None).await;
        app.keys.install(&app.engine.store(), &app.app.clock, &app.app.entropy).await.unwrap();
        app.recorder.clear();
        app
    }

    /// A service with an empty table, to which its keys (new ones if `keys` is `None`) are yet to
    /// be added.
    async fn assemble(settings: Settings, hasher: Hasher, seed: u64, keys: Option<Keys>) -> Self {
        record::start();
        let now = Arc::new(AtomicI64::new(START.parse::<Timestamp>().unwrap().as_millisecond()));
        let clock = Clock::new({
            let now = Arc::clone(&now);
            move || Timestamp::from_millisecond(now.load(Ordering::SeqCst)).unwrap()
        });
        let entropy = seeded_entropy(seed);
        let recorder = Arc::new(Recorder::default());
        let engine = Engine::open(None, &entropy, Some(recorder.clone())).await.unwrap();
        let inbox = Inbox::open(None, clock.clone()).unwrap();
        let keys = keys.unwrap_or_else(|| Keys::generate(&entropy, ProjectId::from(entropy.uuid())));
        let (engine_part, inbox_part) = (engine.clone(), inbox.clone());
        let service = Service::new(Parts { settings, engine: engine_part, inbox: inbox_part, clock, entropy, hasher, private_pages: None });
        recorder.clear();
        Self { app: service.app, keys, inbox, recorder, engine, router: service.router, now }
    }

    /// The router of the service, for tests that serve it over HTTP.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// The engine behind the table, for tests that bypass the service.
    pub fn database(&self) -> Database {
        self.engine.database()
    }

    /// A service on the same table, with other settings.
    pub fn redeployed(&self, change: impl FnOnce(&mut Settings)) -> Self {
        let Parts { mut settings, .. } = self.parts();
        change(&mut settings);
        let service = Service::new(Parts { settings, ..self.parts() });
        Self {
            app: service.app,
            keys: copy(&self.keys),
            inbox: self.inbox.clone(),
            recorder: Arc::clone(&self.recorder),
            engine: self.engine.clone(),
            router: service.router,
            now: Arc::clone(&self.now),
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

    /// All items of the table, by key, for example to check what a failed request leaves behind.
    pub fn table(&self) -> Items {
        let request = serde_json::json!({ "TableName": gateway::engine::TABLE });
        let answer = self.engine.database().scan(serde_json::from_value(request).unwrap()).unwrap();
        let answer = serde_json::to_value(answer).unwrap();
        assert!(answer["LastEvaluatedKey"].is_null(), "the table is larger than one page");
        let key = |item: &serde_json::Value, name: &str| item[name]["S"].as_str().unwrap().to_owned();
        answer["Items"].as_array().unwrap().iter().map(|item| ((key(item, "pk"), key(item, "sk")), item.clone())).collect()
    }

    /// Advances the clock.
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

    /// Changes settings of the project, as an administrator does.
    pub async fn configure(&self, patch: serde_json::Value) {
        let answer = self.admin().patch("/api/v1/internal/projects/current", patch).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
    }

    /// Creates the project `internal`, enables sign-up in it, and returns its keys.
    pub async fn internal_project(&self) -> Keys {
        let keys = Keys::generate(&self.app.entropy, ProjectId::internal());
        keys.install(&self.app.store, &self.app.clock, &self.app.entropy).await.unwrap();
        let mut row = self.app.store.project(&keys.project_id).await.unwrap().unwrap();
        row.project.config.sign_up_enabled = true;
        self.app.store.update_project(&row.project, row.version, None).await.unwrap();
        keys
    }

    /// Deletes the items that have expired by the clock of this machine, as a gateway does every
    /// hour.
    pub async fn delete_expired(&self) -> usize {
        self.engine.expire().await.unwrap()
    }

    /// Creates another project in the same table, and returns its keys.
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
        provider_stand_in: None,
        shared_clients: model::provider::shared::SharedClients::default(),
        security_contact: None,
        images_bucket: None,
    }
}

/// Random numbers that are the same in every run of a test.
fn seeded_entropy(seed: u64) -> Entropy {
    let generator = Mutex::new(ChaCha20Rng::seed_from_u64(seed));
    Entropy::new(move |bytes| generator.lock().unwrap().fill_bytes(bytes))
}
