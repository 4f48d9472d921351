//! A service with its data on disk and with a webhook worker, as in the gateway.

use crypto::password::hash::Hasher;
use gateway::engine::Engine;
use gateway::inbox::Inbox;
use gateway::keys::Keys;
use gateway::service::{Parts, Service};
use model::limit::Limits;
use serde_json::{Value, json};
use tokio::sync::watch;
use wire::clock::Clock;
use wire::entropy::Entropy;
use wire::id::ProjectId;

use crate::{Caller, record, settings};

/// A service on disk.
pub struct Disk {
    server: Caller,
    admin: Caller,
    // The worker stops when this value is dropped.
    _stop: watch::Sender<bool>,
}

impl Disk {
    pub async fn start(name: &str) -> Self {
        let folder = record::scratch().join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("table.sqlite");
        let (clock, entropy) = (Clock::system(), Entropy::system());
        let engine = Engine::open(Some(&file), &entropy, None).await.unwrap();
        engine.share_commits(&file).unwrap();
        engine.open_feed(Some(&file)).await.unwrap();
        let keys = Keys::generate(&entropy, ProjectId::from(entropy.uuid()));
        keys.install(&engine.store(), &clock, &entropy).await.unwrap();
        let inbox = Inbox::open(None, clock.clone()).unwrap();
        let settings = settings(Limits::off());
        let service = Service::new(Parts { settings, engine, inbox, clock, entropy, hasher: Hasher::new(64, 1), private_pages: None });
        let (stop, stopped) = watch::channel(false);
        service.spawn_webhooks(true, stopped);
        let caller = |level: &str| Caller::of(&service, &keys, level);
        Self { server: caller("server"), admin: caller("admin"), _stop: stop }
    }

    /// Sends a POST request as a server, and returns the body of the response.
    pub async fn server(&self, path: &str, body: Value) -> Value {
        let answer = self.server.post(path, body).await;
        assert!(answer.status() < 300, "{}", answer.text());
        answer.json()
    }

    /// Creates an endpoint that receives the events about new users.
    pub async fn endpoint(&self, url: &str) {
        let body = json!({ "url": url, "event_types": ["user.created"] });
        let answer = self.admin.post("/api/v1/internal/webhook-endpoints", body).await;
        assert_eq!(answer.status(), 201, "{}", answer.text());
    }
}
