//! Kills a gateway while it records and delivers webhook events, while a retry waits, and while an
//! endpoint is switched off. Each event arrives at least once, and the events of a user arrive in
//! order. Also tests a gateway's connections to many endpoints.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use model::webhook::MAX_ENDPOINTS;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{Folder, Gateway, gateway, variable};

const ENDPOINTS: &str = "/api/v1/internal/webhook-endpoints";
/// The number of users that are created and renamed. Every second user is also deleted.
const USERS: usize = 408;
/// The places at which the gateway is killed, one per start. The number after the colon counts
/// deliveries, or claims of an endpoint, since the gateway's start.
const PLACES: [&str; 12] = [
    "recording:3",
    "recorded:3",
    "claimed-endpoint:1",
    "delivering:1",
    "delivered:1",
    "settled-deliveries:1",
    "recording:50",
    "recorded:50",
    "delivering:40",
    "delivered:40",
    "settled-deliveries:40",
    "claimed-endpoint:2",
];

/// A receiver that keeps the events it accepts.
#[derive(Clone, Default)]
struct Receiver {
    arrived: Arc<Mutex<Vec<Value>>>,
    /// The ids of the messages that were rejected, each once.
    refused: Arc<Mutex<BTreeSet<String>>>,
    /// Whether each message is rejected when it first arrives.
    refuses_first: bool,
}

impl Receiver {
    /// Starts a receiver; returns the receiver's URL.
    async fn start(refuses_first: bool) -> (String, Self) {
        let receiver = Self { refuses_first, ..Self::default() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let router = Router::new().fallback(Self::receive).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (url, receiver)
    }

    async fn receive(State(receiver): State<Self>, headers: HeaderMap, body: Bytes) -> StatusCode {
        let id = headers["webhook-id"].to_str().unwrap().to_owned();
        if receiver.refuses_first && receiver.refused.lock().unwrap().insert(id) {
            return StatusCode::SERVICE_UNAVAILABLE;
        }
        receiver.arrived.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
        StatusCode::NO_CONTENT
    }

    /// The types of each user's events, in the order in which they first arrived.
    fn by_user(&self) -> BTreeMap<String, Vec<String>> {
        let mut by_user: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for event in self.arrived.lock().unwrap().iter() {
            let types = by_user.entry(event["data"]["id"].as_str().unwrap().to_owned()).or_default();
            let kind = event["type"].as_str().unwrap().to_owned();
            if !types.contains(&kind) {
                types.push(kind);
            }
        }
        by_user
    }

    fn refused(&self) -> usize {
        self.refused.lock().unwrap().len()
    }
}

/// Waits up to five minutes for a condition to hold.
async fn until(holds: impl AsyncFn() -> bool) {
    for _ in 0..6_000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

struct Service {
    folder: Folder,
    project: String,
    server: String,
    admin: String,
}

impl Service {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        drop(Gateway::start(&folder.data()));
        let saved = std::fs::read_to_string(folder.path("data/keys.env")).unwrap();
        let value = |name: &str| variable(&saved, name);
        let (server, admin) = (value("GATELET_SECRET_SERVER_KEY"), value("GATELET_SUPER_SECRET_ADMIN_KEY"));
        Self { folder, project: value("GATELET_PROJECT_ID"), server, admin }
    }

    fn start(&self, stop_at: Option<&str>) -> Gateway {
        let mut command = gateway(&["--data", &self.folder.data(), "--port", "0", "--limits", "off"]);
        command.env("GATELET_ALLOW_PRIVATE_ISSUERS", "1");
        Gateway::spawn(stop_at.iter().fold(&mut command, |command, place| command.env("GATELET_STOP_AT", place)))
    }

    async fn call(&self, gateway: &Gateway, method: Method, path: &str, body: Value) -> Value {
        let headers = [
            ("x-stack-project-id", &*self.project),
            ("x-stack-access-type", "admin"),
            ("x-stack-secret-server-key", &*self.server),
            ("x-stack-super-secret-admin-key", &*self.admin),
        ];
        let answer = gateway.send(method, path, &headers, Some(body)).await;
        assert!(answer.status().is_success(), "{path} {}", answer.status());
        answer.json().await.unwrap()
    }

    /// Creates an endpoint for user events; returns the endpoint's path.
    async fn endpoint(&self, gateway: &Gateway, url: &str) -> String {
        let wanted = json!({ "url": url, "event_types": ["user.created", "user.updated", "user.deleted"] });
        let created = self.call(gateway, Method::POST, ENDPOINTS, wanted).await;
        format!("{ENDPOINTS}/{}", created["id"].as_str().unwrap())
    }

    /// Creates a user and renames it; returns the user's id.
    async fn user(&self, gateway: &Gateway, name: &str) -> String {
        let user = self.call(gateway, Method::POST, "/api/v1/users", json!({ "display_name": name })).await;
        let id = user["id"].as_str().unwrap().to_owned();
        self.call(gateway, Method::PATCH, &format!("/api/v1/users/{id}"), json!({ "display_name": "renamed" })).await;
        id
    }

    /// The number of deliveries that are waiting.
    async fn pending(&self, gateway: &Gateway, endpoint: &str) -> usize {
        let path = format!("{endpoint}/deliveries?status=pending&limit=100");
        self.call(gateway, Method::GET, &path, json!({})).await["items"].as_array().unwrap().len()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_killed_at_every_step_loses_no_event_of_a_thousand_changes() {
    let (service, (url, receiver)) = (Service::new("webhooks"), Receiver::start(false).await);
    let first = service.start(None);
    service.endpoint(&first, &url).await;
    let mut users = Vec::new();
    drop(first);
    for (round, place) in PLACES.iter().enumerate() {
        let gateway = service.start(Some(place));
        // Requests are still handled while the worker is stopped.
        for number in 0..USERS / PLACES.len() {
            let is_deleted = number % 2 == 0;
            let id = service.user(&gateway, &format!("{round} {number}")).await;
            if is_deleted {
                service.call(&gateway, Method::DELETE, &format!("/api/v1/users/{id}"), json!({})).await;
            }
            users.push((id, is_deleted));
        }
        gateway.killed_where_it_stops(place.split_once(':').unwrap().0).await;
    }
    let last = service.start(None);
    let expected = |is_deleted: bool| {
        let all = ["user.created", "user.updated", "user.deleted"];
        all[..if is_deleted { 3 } else { 2 }].to_vec()
    };
    until(async || {
        let found = receiver.by_user();
        users.iter().all(|(id, is_deleted)| found.get(id).is_some_and(|types| types.len() == expected(*is_deleted).len()))
    })
    .await;
    let found = receiver.by_user();
    for (id, is_deleted) in &users {
        assert_eq!(found.get(id).map(|types| types.iter().map(String::as_str).collect()), Some(expected(*is_deleted)), "{id}");
    }
    drop(last);
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_that_wait_and_an_endpoint_that_is_off_outlast_a_kill() {
    let (service, (url, receiver)) = (Service::new("webhook-retries"), Receiver::start(true).await);
    let mut users = Vec::new();
    // The events of five users are recorded, and the first event of each user is rejected. When the
    // endpoint is switched off and the gateway is killed, the events of five other users are not
    // yet recorded.
    let first = service.start(Some("recording:11"));
    let endpoint = service.endpoint(&first, &url).await;
    for number in 0..5 {
        users.push(service.user(&first, &number.to_string()).await);
    }
    until(async || receiver.refused() == 5 && service.pending(&first, &endpoint).await == 10).await;
    for number in 5..10 {
        users.push(service.user(&first, &number.to_string()).await);
    }
    service.call(&first, Method::PATCH, &endpoint, json!({ "enabled": false })).await;
    first.killed_where_it_stops("recording").await;

    // The gateway is killed again when everything is recorded and is waiting for the endpoint.
    let second = service.start(None);
    until(async || service.pending(&second, &endpoint).await == 20).await;
    assert_eq!((service.pending(&second, &endpoint).await, receiver.by_user()), (20, BTreeMap::new()));
    drop(second);

    // The gateway is killed while a retry is waiting: the first events of the other users have also
    // been rejected.
    let third = service.start(None);
    service.call(&third, Method::PATCH, &endpoint, json!({ "enabled": true })).await;
    until(async || receiver.refused() >= 10).await;
    drop(third);

    let last = service.start(None);
    until(async || users.iter().all(|id| receiver.by_user().get(id).is_some_and(|types| types.len() == 2))).await;
    let expected: BTreeMap<String, Vec<String>> =
        users.into_iter().map(|id| (id, ["user.created", "user.updated"].map(str::to_owned).to_vec())).collect();
    assert_eq!(receiver.by_user(), expected);
    assert_eq!(receiver.refused(), 20, "each message was refused once, and then accepted");
    drop(last);
}

/// Receivers that count open connections, which they leave to the gateway to close.
#[derive(Clone, Default)]
struct Sockets {
    open: Arc<AtomicUsize>,
    arrived: Arc<AtomicUsize>,
}

impl Sockets {
    /// Starts a receiver; returns the receiver's URL.
    async fn receiver(&self) -> String {
        let (sockets, listener) = (self.clone(), TcpListener::bind("127.0.0.1:0").await.unwrap());
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let sockets = sockets.clone();
                tokio::spawn(async move {
                    sockets.open.fetch_add(1, Ordering::SeqCst);
                    sockets.serve(BufReader::new(stream)).await;
                    sockets.open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        url
    }

    /// Responds to the requests on a connection until its end.
    async fn serve(&self, mut stream: BufReader<TcpStream>) -> Option<()> {
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).await.ok().filter(|length| *length > 0)?;
                let line = line.trim_end().to_lowercase();
                if line.is_empty() {
                    break;
                }
                length = line.strip_prefix("content-length: ").map_or(Some(length), |value| value.parse().ok())?;
            }
            stream.read_exact(&mut vec![0; length]).await.ok()?;
            self.arrived.fetch_add(1, Ordering::SeqCst);
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.ok()?;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_socket_stays_open_for_long_after_deliveries_to_many_endpoints() {
    let (service, sockets) = (Service::new("webhook-sockets"), Sockets::default());
    let gateway = service.start(None);
    for _ in 0..MAX_ENDPOINTS {
        service.endpoint(&gateway, &sockets.receiver().await).await;
    }
    for number in 0..20 {
        service.user(&gateway, &number.to_string()).await;
    }
    until(async || sockets.arrived.load(Ordering::SeqCst) == 40 * MAX_ENDPOINTS).await;
    let arrived = Instant::now();
    assert!(sockets.open.load(Ordering::SeqCst) <= 8 * MAX_ENDPOINTS);
    until(async || sockets.open.load(Ordering::SeqCst) == 0).await;
    assert!(arrived.elapsed() < Duration::from_secs(60), "five to ten seconds, not {:?}", arrived.elapsed());
    drop(gateway);
}
