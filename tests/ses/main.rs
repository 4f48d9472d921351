//! Sending through SES's wire: the real client of the worker, against an emulator of SES v2 and against an endpoint that misbehaves.
#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

mod emulator;
mod endpoint;
mod misbehaviour;

use std::time::Duration;

use aws_sdk_sesv2::Config;
use aws_sdk_sesv2::config::{Credentials, Region};
use serde_json::Value;
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
    let id = app.send_mail(fields).await;
    (app, id)
}
