//! A project with slow templates does not delay the emails of other projects.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, gateway, run, succeeds, variable};

/// The number of slow emails that are sent.
const SLOW: usize = 12;
/// A template whose rendering takes much longer than one second, after which the renderer is
/// stopped.
const ENDLESS: &str = "{% set x = 'a' * 5000000 %}{% for a in range(9000) %}{% if x|replace('a', 'b') == 'c' %}{% endif %}{% endfor %}";

struct Server<'a> {
    gateway: &'a Gateway,
    project: String,
    key: String,
}

impl Server<'_> {
    async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let headers =
            [("x-stack-project-id", &*self.project), ("x-stack-access-type", "server"), ("x-stack-secret-server-key", &*self.key)];
        let answer = self.gateway.send(method, path, &headers, body).await;
        assert!(answer.status().is_success(), "{path} {}", answer.status());
        answer.json().await.unwrap()
    }

    /// The number of emails with one of the given statuses.
    async fn count(&self, statuses: &[&str]) -> usize {
        let list = self.call(Method::GET, "/api/v1/emails/outbox", None).await;
        list["items"].as_array().unwrap().iter().filter(|entry| statuses.contains(&entry["status"].as_str().unwrap())).count()
    }

    async fn until(&self, wanted: usize, statuses: &[&str]) {
        for _ in 0..3_000 {
            if self.count(statuses).await >= wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("never {wanted} of {statuses:?}");
    }
}

#[tokio::test]
async fn the_code_of_another_project_arrives_before_urgent_slow_emails() {
    let folder = Folder::new("fairness");
    let data = folder.data();
    let gateway = Gateway::spawn(&mut gateway(&["--data", &data, "--port", "0", "--limits", "off"]));
    let other = variable(&succeeds(&run(&["project", "create", "Other", "--data", &data])), "GATELET_PROJECT_ID");
    succeeds(&run(&["project", "set", &other, "config.magic_link_enabled=true", "--data", &data]));
    let saved = std::fs::read_to_string(folder.path("data/keys.env")).unwrap();
    let (project, key) = (variable(&saved, "GATELET_PROJECT_ID"), variable(&saved, "GATELET_SECRET_SERVER_KEY"));
    let slow = Server { gateway: &gateway, project, key };
    let mut users = Vec::new();
    for number in 0..SLOW {
        let user = slow.call(Method::POST, "/api/v1/users", Some(json!({ "primary_email": format!("user{number}@example.com") }))).await;
        users.push(user["id"].clone());
    }
    let body = json!({ "user_ids": users, "is_high_priority": true, "subject": "x", "html": ENDLESS, "theme_id": false });
    slow.call(Method::POST, "/api/v1/emails/send-email", Some(body)).await;
    slow.until(1, &["rendering", "render-error"]).await;

    let body = json!({ "email": "bob@example.com", "callback_url": "http://localhost:3000/" });
    let (status, answer) = gateway.client(&other, Method::POST, "/api/v1/auth/otp/send-sign-in-code", Some(body)).await;
    assert_eq!(status, 200, "{answer}");
    let arrived = async || gateway.get("/inbox/api/messages").await.json::<Value>().await.unwrap()["total"] == 1;
    while !arrived().await {
        assert!(slow.count(&["preparing", "rendering"]).await > 0, "all slow emails came first");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(slow.count(&["preparing", "rendering"]).await > 0, "all slow emails came first");
    // Each slow email still gets its turn.
    slow.until(SLOW, &["render-error"]).await;
}
