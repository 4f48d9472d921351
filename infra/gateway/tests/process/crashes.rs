//! A gateway that is killed while it sends a thousand mails: none is lost, and none is sent twice.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use shared::store::outbox_moves::AT_ONCE;
use workers::outbox::PARALLEL;

use crate::support::{Folder, Gateway, gateway, variable};

const MAILS: usize = 1000;

/// Where it is killed, one after another, on the way of the same mails: at the place that a worker comes to for the time of this number.
const PLACES: [&str; 12] = [
    "expanding:1",
    "expanded:1",
    "expanding:4",
    "preparing:70",
    "rendering:70",
    "rendered:70",
    "queued:40",
    "claimed:40",
    "sent:1",
    "sent:40",
    "settled:40",
    "claimed:3",
];

struct Service {
    folder: Folder,
    project: String,
    key: String,
}

impl Service {
    async fn new() -> (Self, String) {
        let folder = Folder::new("crashes");
        let gateway = Gateway::start(&folder.data());
        let saved = std::fs::read_to_string(folder.path("data/keys.env")).unwrap();
        let service = Self { folder, project: variable(&saved, "GATELET_PROJECT_ID"), key: variable(&saved, "GATELET_SECRET_SERVER_KEY") };
        let user = service.call(&gateway, Method::POST, "/api/v1/users", Some(json!({ "primary_email": "ada@example.com" }))).await;
        (service, user["id"].as_str().unwrap().to_owned())
    }

    fn start(&self, stop_at: Option<&str>, clock_ahead: &str) -> Gateway {
        let data = self.folder.data();
        let mut command = gateway(&["--data", &data, "--listen", "127.0.0.1:0", "--limits", "off", "--clock-ahead", clock_ahead]);
        Gateway::spawn(stop_at.iter().fold(&mut command, |command, place| command.env("GATELET_STOP_AT", place)))
    }

    async fn call(&self, gateway: &Gateway, method: Method, path: &str, body: Option<Value>) -> Value {
        let headers =
            [("x-stack-project-id", &*self.project), ("x-stack-access-type", "server"), ("x-stack-secret-server-key", &*self.key)];
        let answer = gateway.send(method, path, &headers, body).await;
        assert!(answer.status().is_success(), "{path} {}", answer.status());
        answer.json().await.unwrap()
    }

    /// All entries of the outbox.
    async fn entries(&self, gateway: &Gateway, query: &str) -> Vec<Value> {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let mut page = self.call(gateway, Method::GET, &format!("/api/v1/emails/outbox?{query}{cursor}"), None).await;
            all.append(page["items"].as_array_mut().unwrap());
            match page["pagination"]["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return all,
            }
        }
    }

    /// Waits until all mails have an entry, and none is on its way.
    async fn settled(&self, gateway: &Gateway) -> Vec<Value> {
        for _ in 0..600 {
            let waiting = self.call(gateway, Method::GET, "/api/v1/emails/outbox?simple_status=in-progress&limit=1", None).await;
            let entries = self.entries(gateway, "").await;
            if entries.len() == MAILS && waiting["items"].as_array().unwrap().is_empty() {
                return entries;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        panic!("the mails do not come to an end");
    }
}

#[tokio::test]
async fn a_gateway_that_is_killed_at_every_step_of_a_thousand_mails_sends_each_once_at_most_and_says_what_it_does_not_know() {
    let (service, user) = Service::new().await;
    let first = service.start(Some(PLACES[0]), "0");
    let body = json!({ "user_ids": vec![&user; MAILS], "subject": "Hello", "html": "<p>Hello</p>", "theme_id": false });
    let accepted = service.call(&first, Method::POST, "/api/v1/emails/send-email", Some(body)).await;
    assert_eq!(accepted["results"].as_array().unwrap().len(), MAILS);
    first.killed_where_it_stops("expanding").await;
    for place in &PLACES[1..] {
        let gateway = service.start(Some(place), "0");
        gateway.killed_where_it_stops(place.split_once(':').unwrap().0).await;
    }

    // What a dead worker had claimed is taken up, or given up, once its lease is over.
    let last = service.start(None, "1500");
    let entries = service.settled(&last).await;
    let inbox: Value = last.get("/inbox/api/messages?limit=10000").await.json().await.unwrap();
    let mut received: BTreeMap<&str, usize> = BTreeMap::new();
    for message in inbox["items"].as_array().unwrap() {
        *received.entry(message["outbox_id"].as_str().unwrap()).or_default() += 1;
    }
    assert!(received.values().all(|count| *count == 1), "a mail was sent twice");
    let known: BTreeSet<&str> = entries.iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    assert!(known.len() == MAILS && received.keys().all(|id| known.contains(id)));
    let mut unknown = 0;
    for entry in &entries {
        let id = entry["id"].as_str().unwrap();
        match entry["status"].as_str().unwrap() {
            "sent" => assert!(received.contains_key(id), "{id} is called sent, and is not there"),
            "server-error" => {
                unknown += 1;
                assert_eq!(entry["send_attempt_errors"][0]["external_details"]["errorType"], "UNKNOWN");
                assert!(entry["server_error"].as_str().unwrap().contains("whether the mail went out"), "{entry}");
            }
            other => panic!("{id} is {other}"),
        }
    }
    // As many as a worker has claimed at a time, at each of the kills between claiming and settling.
    let kills = PLACES.iter().filter(|place| ["claimed", "sent", "settled"].iter().any(|step| place.starts_with(step))).count();
    assert!((4..=kills * AT_ONCE * PARALLEL).contains(&unknown), "{unknown} mails are of unknown outcome");
}
