//! Sending through SES's wire: the real client of the worker, against an emulator of SES v2 and against an endpoint that misbehaves.
#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

mod emulator;
mod endpoint;
mod misbehaviour;

use std::time::Duration;

use aws_sdk_sesv2::Config;
use aws_sdk_sesv2::config::{Credentials, Region};
use jiff::SignedDuration;
use serde_json::{Value, json};
use shared::aws_http::AwsHttp;
use shared::clock::Clock;
use shared::mail::ses::Ses;
use support::TestApp;

/// How long the client of a test waits for an answer.
const PATIENCE: Duration = Duration::from_millis(600);

/// The sender of a deployment, at another endpoint.
fn ses(url: &str, configuration_set: Option<&str>) -> Ses {
    ses_that_waits(PATIENCE, url, configuration_set)
}

fn ses_that_waits(patience: Duration, url: &str, configuration_set: Option<&str>) -> Ses {
    let config = Config::builder()
        .region(Region::from_static("eu-central-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "test"))
        .endpoint_url(url)
        .http_client(AwsHttp::from_env().unwrap());
    Ses::new(config, configuration_set.map(str::to_owned), patience, Clock::system())
}

/// A service with one mail to `ada@example.com` in its outbox, and the id of that.
async fn outbox(fields: Value) -> (TestApp, String) {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut body = json!({ "user_ids": [ada.user_id], "subject": "Grüße", "html": "<p>Hello</p>", "theme_id": false });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    assert_eq!(app.server().post("/api/v1/emails/send-email", body).await.status(), 200);
    let list = app.server().get("/api/v1/emails/outbox").await.json();
    let id = list["items"][0]["id"].as_str().unwrap().to_owned();
    (app, id)
}

async fn entry(app: &TestApp, id: &str) -> Value {
    app.server().get(&format!("/api/v1/emails/outbox/{id}")).await.json()
}

/// Runs the worker with this sender until nothing is due.
async fn deliver(app: &TestApp, ses: &Ses) {
    workers::outbox::drain(&app.app, ses, app.now() + SignedDuration::from_hours(1)).await.unwrap();
}
