//! A gateway that is killed while it records and delivers the events of webhooks: each event
//! arrives at least once, and those of a user arrive in order.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, gateway, variable};

/// The number of users that are created, renamed and deleted.
const USERS: usize = 408;
/// Where the gateway is killed, one place after another, while it works on the same changes.
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

type Arrived = Arc<Mutex<Vec<Value>>>;

/// A receiver that keeps the events and accepts all of them.
async fn receiver() -> (String, Arrived) {
    let arrived = Arrived::default();
    let receive = async |State(arrived): State<Arrived>, body: Bytes| {
        arrived.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let router = Router::new().fallback(receive).with_state(Arc::clone(&arrived));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, arrived)
}

struct Service {
    folder: Folder,
    project: String,
    server: String,
    admin: String,
}

impl Service {
    fn new() -> Self {
        let folder = Folder::new("webhooks");
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
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_killed_at_every_step_loses_no_event_of_a_thousand_changes() {
    let (service, (url, arrived)) = (Service::new(), receiver().await);
    let first = service.start(None);
    let wanted = json!({ "url": url, "event_types": ["user.created", "user.updated", "user.deleted"] });
    service.call(&first, Method::POST, "/api/v1/internal/webhook-endpoints", wanted).await;
    let mut users = Vec::new();
    drop(first);
    for (round, place) in PLACES.iter().enumerate() {
        let gateway = service.start(Some(place));
        // While the worker is stopped at its place, requests go on.
        for number in 0..USERS / PLACES.len() {
            let is_deleted = number % 2 == 0;
            let user = service.call(&gateway, Method::POST, "/api/v1/users", json!({ "display_name": format!("{round} {number}") })).await;
            let path = format!("/api/v1/users/{}", user["id"].as_str().unwrap());
            service.call(&gateway, Method::PATCH, &path, json!({ "display_name": "renamed" })).await;
            if is_deleted {
                service.call(&gateway, Method::DELETE, &path, json!({})).await;
            }
            users.push((user["id"].as_str().unwrap().to_owned(), is_deleted));
        }
        gateway.killed_where_it_stops(place.split_once(':').unwrap().0).await;
    }
    let last = service.start(None);
    let complete = || {
        let events = arrived.lock().unwrap().clone();
        let mut of_user: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for event in events {
            let types = of_user.entry(event["data"]["id"].as_str().unwrap().to_owned()).or_default();
            let kind = event["type"].as_str().unwrap().to_owned();
            // A repetition does not count: the order is that of the first arrivals.
            if !types.contains(&kind) {
                types.push(kind);
            }
        }
        of_user
    };
    let expected = |is_deleted: bool| {
        let all = ["user.created", "user.updated", "user.deleted"];
        all[..if is_deleted { 3 } else { 2 }].to_vec()
    };
    for _ in 0..240 {
        let found = complete();
        if users.iter().all(|(id, is_deleted)| found.get(id).is_some_and(|types| types.len() == expected(*is_deleted).len())) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let found = complete();
    for (id, is_deleted) in &users {
        assert_eq!(found.get(id).map(|types| types.iter().map(String::as_str).collect()), Some(expected(*is_deleted)), "{id}");
    }
    drop(last);
}
