//! The webhook endpoints of a project, and the deliveries to them.

mod deliveries;
mod endpoints;
mod events;
mod held;
mod hostile;
pub(crate) mod late;
mod notices;
mod queue;
mod replays;
mod retries;
mod stream_filters;

use serde_json::{Value, json};
use support::TestApp;
use support::receiver::Receiver;

pub(crate) const ENDPOINTS: &str = "/api/v1/internal/webhook-endpoints";

/// Creates an endpoint, and returns the body of the response.
async fn endpoint(app: &TestApp, body: Value) -> Value {
    let answer = app.admin().post(ENDPOINTS, body).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    answer.json()
}

/// Creates an endpoint at a receiver, for these event types.
pub(crate) async fn endpoint_at(app: &TestApp, receiver: &Receiver, types: &[&str]) -> Value {
    endpoint(app, json!({ "url": receiver.url, "event_types": types })).await
}

fn path(endpoint: &Value, rest: &str) -> String {
    format!("{ENDPOINTS}/{}{rest}", endpoint["id"].as_str().unwrap())
}

/// The deliveries to an endpoint, newest first.
async fn deliveries(app: &TestApp, endpoint: &Value) -> Vec<Value> {
    let answer = app.admin().get(&path(endpoint, "/deliveries?limit=100")).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()["items"].as_array().unwrap().clone()
}

async fn create_user(app: &TestApp, name: &str) -> Value {
    let answer = app.server().post("/api/v1/users", json!({ "display_name": name })).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    answer.json()
}
