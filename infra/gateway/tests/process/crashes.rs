//! Kills a gateway while it sends emails. No email is lost or sent twice, and after the next start,
//! no email waits for a lease to expire.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, gateway, succeeds, variable};

const MANY: usize = 400;

/// The places where the gateway is killed, one after another, while it sends the same emails. The
/// number after the colon counts emails since the gateway's start, or steps of the broadcast's
/// expansion.
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
    /// The number of emails that are sent.
    emails: usize,
    project: String,
    key: String,
}

impl Service {
    async fn new(emails: usize) -> (Self, Vec<String>) {
        let folder = Folder::new(&format!("crashes-{emails}"));
        let gateway = Gateway::start(&folder.data());
        let saved = std::fs::read_to_string(folder.path("data/keys.env")).unwrap();
        let service =
            Self { folder, emails, project: variable(&saved, "GATELET_PROJECT_ID"), key: variable(&saved, "GATELET_SECRET_SERVER_KEY") };
        drop(gateway);
        let gateway = service.start(None);
        let mut users = Vec::new();
        for number in 0..emails {
            users.push(service.user(&gateway, number).await);
        }
        (service, users)
    }

    /// Creates a user; returns the user's id.
    async fn user(&self, gateway: &Gateway, number: usize) -> String {
        let user = json!({ "primary_email": format!("user{number}@example.com") });
        let user = self.call(gateway, Method::POST, "/api/v1/users", Some(user)).await;
        user["id"].as_str().unwrap().to_owned()
    }

    fn start(&self, stop_at: Option<&str>) -> Gateway {
        let mut command = gateway(&["--data", &self.folder.data(), "--port", "0", "--limits", "off"]);
        Gateway::spawn(stop_at.iter().fold(&mut command, |command, place| command.env("GATELET_STOP_AT", place)))
    }

    async fn call(&self, gateway: &Gateway, method: Method, path: &str, body: Option<Value>) -> Value {
        let headers =
            [("x-stack-project-id", &*self.project), ("x-stack-access-type", "server"), ("x-stack-secret-server-key", &*self.key)];
        let answer = gateway.send(method, path, &headers, body).await;
        assert!(answer.status().is_success(), "{path} {}", answer.status());
        answer.json().await.unwrap()
    }

    async fn send(&self, gateway: &Gateway, users: &[String]) {
        let body = json!({ "user_ids": users, "subject": "Hello", "html": "<p>Hello</p>", "theme_id": false });
        let accepted = self.call(gateway, Method::POST, "/api/v1/emails/send-email", Some(body)).await;
        assert_eq!(accepted["results"].as_array().unwrap().len(), self.emails);
    }

    /// Asserts that each email has been sent and is in the inbox exactly once.
    async fn every_email_arrives_once(&self, gateway: &Gateway) {
        let entries = self.settled(gateway).await;
        let inbox: Value = gateway.get("/inbox/api/messages?limit=10000").await.json().await.unwrap();
        let mut received: BTreeMap<&str, usize> = BTreeMap::new();
        for message in inbox["items"].as_array().unwrap() {
            *received.entry(message["outbox_id"].as_str().unwrap()).or_default() += 1;
        }
        let unsent: Vec<&Value> = entries.iter().filter(|entry| !received.contains_key(entry["id"].as_str().unwrap())).collect();
        assert_eq!(received.len(), self.emails, "{} are missing, such as {:?}", unsent.len(), unsent.first());
        assert!(received.values().all(|times| *times == 1), "{received:?}");
        for entry in entries {
            assert!(entry["status"] == "sent" && received.contains_key(entry["id"].as_str().unwrap()), "{entry}");
        }
    }

    /// All outbox entries that match `query`.
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

    /// Waits until all emails have an entry, and no email is being sent.
    async fn settled(&self, gateway: &Gateway) -> Vec<Value> {
        for _ in 0..3_000 {
            // A page of a search can be empty although later pages have entries.
            if self.entries(gateway, "simple_status=in-progress").await.is_empty() {
                let entries = self.entries(gateway, "").await;
                if entries.len() == self.emails {
                    return entries;
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("some emails are never settled");
    }
}

#[tokio::test]
async fn a_gateway_killed_at_every_step_sends_each_of_a_thousand_emails_once() {
    let (service, users) = Service::new(1000).await;
    let first = service.start(Some(PLACES[0]));
    service.send(&first, &users).await;
    first.killed_where_it_stops("expanding").await;
    for place in &PLACES[1..] {
        let gateway = service.start(Some(place));
        gateway.killed_where_it_stops(place.split_once(':').unwrap().0).await;
    }
    // The emails need not wait for leases to expire, because the inbox shows the gateway which ones
    // have arrived.
    service.every_email_arrives_once(&service.start(None)).await;
}

#[tokio::test]
async fn emails_of_a_repeatedly_killed_gateway_arrive_once_and_soon() {
    let (service, users) = Service::new(MANY).await;
    let mut gateway = service.start(None);
    service.send(&gateway, &users).await;
    // Some kills happen during startup, others during later work.
    for millis in [40, 120, 5, 200, 80, 15, 300] {
        tokio::time::sleep(Duration::from_millis(millis)).await;
        gateway.signal("KILL");
        gateway.wait();
        gateway = service.start(None);
    }
    service.every_email_arrives_once(&gateway).await;
}

#[tokio::test]
async fn an_email_handed_to_a_mail_server_before_a_kill_is_not_resent() {
    // This server accepts connections, but never responds.
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let (service, users) = Service::new(1).await;
    let config = format!(
        r#"config.email_config={{"type":"standard","host":"localhost","port":{},"username":"notes","password":"the-password",
        "sender_name":"Notes","sender_email":"notes@example.com"}}"#,
        server.local_addr().unwrap().port()
    );
    let set = gateway(&["project", "set", &service.project, &config, "--data", &service.folder.data()])
        .env("GATELET_ALLOW_PRIVATE_ISSUERS", "1")
        .output();
    succeeds(&set.unwrap());
    let first = service.start(Some("claimed:1"));
    service.send(&first, &users).await;
    first.killed_where_it_stops("claimed").await;
    let again = service.start(None);
    let entry = service.settled(&again).await.remove(0);
    assert_eq!(entry["status"], "server-error");
    assert_eq!(entry["send_attempt_errors"][0]["external_details"]["errorType"], "UNKNOWN");
}
