//! What every test of the API starts from: the whole service in process, on an embedded engine in memory, with a clock that the test
//! moves and a mail sink that it reads. Requests go through HTTP's types and all layers; nothing goes through a socket.
#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

mod caller;
mod faults;
mod mails;
pub mod provider;
mod users;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use gateway::engine::Engine;
use gateway::inbox::Inbox;
use gateway::keys::Keys;
use gateway::service::{Parts, Service};
use jiff::{SignedDuration, Timestamp};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use shared::App;
use shared::clock::Clock;
use shared::crypto::password::Hasher;
use shared::entropy::Entropy;
use shared::model::content::Content;
use shared::model::id::ProjectId;
use shared::settings::Settings;

pub use caller::{Answer, Caller, RequestBuilder};
pub use faults::{Consumed, ROUND_TRIP, Recorder};
pub use mails::Mail;
pub use users::SignedIn;

/// Where the service of a test is.
pub const API_URL: &str = "http://localhost:8787";

/// When every test begins.
pub const START: &str = "2026-01-01T12:00:00Z";

/// A service of one test, with one project.
pub struct TestApp {
    pub app: App,
    pub keys: Keys,
    pub inbox: Inbox,
    pub recorder: Arc<Recorder>,
    router: Router,
    now: Arc<AtomicI64>,
}

impl TestApp {
    /// A service whose project has password and magic link on, sign-up on, and localhost allowed.
    pub async fn start() -> Self {
        let now = Arc::new(AtomicI64::new(START.parse::<Timestamp>().unwrap().as_millisecond()));
        let clock = Clock::new({
            let now = Arc::clone(&now);
            move || Timestamp::from_millisecond(now.load(Ordering::SeqCst)).unwrap()
        });
        let entropy = seeded_entropy();
        let recorder = Arc::new(Recorder::default());
        let engine = Engine::open(None, Some(recorder.clone())).await.unwrap();
        let inbox = Inbox::open(None, clock.clone()).unwrap();
        let keys = Keys::generate(&entropy, ProjectId::from(entropy.uuid()));
        keys.install(&engine.store(), &clock, &entropy).await.unwrap();
        let hasher = Hasher::new(64, 1);
        let service = Service::new(Parts { settings: settings(), engine, inbox: inbox.clone(), clock, entropy, hasher });
        recorder.clear();
        Self { app: service.app, keys, inbox, recorder, router: service.router, now }
    }

    /// Moves the clock on.
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
        self.app.store.publish(content).await.unwrap();
    }

    /// Changes settings of the project, as an administrator does.
    pub async fn configure(&self, patch: serde_json::Value) {
        let answer = self.admin().patch("/api/v1/internal/projects/current", patch).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
    }

    /// Creates another project in the same table, and gives its keys.
    pub async fn another_project(&self) -> Keys {
        let keys = Keys::generate(&self.app.entropy, ProjectId::from(self.app.entropy.uuid()));
        keys.install(&self.app.store, &self.app.clock, &self.app.entropy).await.unwrap();
        keys
    }
}

fn settings() -> Settings {
    Settings {
        api_url: API_URL.to_owned(),
        site_url: "https://site.example".to_owned(),
        secret: "a deployment secret for tests alone".to_owned().into(),
        origin_secret: None,
        trust_viewer_headers: true,
        access_token_life: std::time::Duration::from_secs(600),
        sender: "noreply@example.com".to_owned(),
        development: true,
        allow_private_issuers: true,
    }
}

/// Randomness that is the same in every run of a test.
fn seeded_entropy() -> Entropy {
    let generator = Mutex::new(ChaCha20Rng::seed_from_u64(1));
    Entropy::new(move |bytes| generator.lock().unwrap().fill_bytes(bytes))
}
