//! Sending through SES, with the worker's real client, against an emulator of SES v2 and a
//! misbehaving endpoint.
#![expect(clippy::unwrap_used, reason = "a test fails if something is missing")]
#![expect(clippy::disallowed_methods, reason = "the emulator and the endpoints are on this machine")]

mod emulator;
mod endpoint;
mod misbehaviour;
mod not_now;

use std::time::Duration;

use aws::connector::AwsHttp;
use aws::{Client, Endpoint, Service};
use aws_sdk_dynamodb::config::Credentials;
use email::ses::Ses;
use serde_json::Value;
use support::TestApp;
use wire::clock::Clock;

/// How long the client waits for an endpoint that may never respond.
const TIMEOUT: Duration = Duration::from_secs(2);

/// A sender like that of a deployment, but with this endpoint.
fn ses(url: &str, configuration_set: Option<&str>) -> Ses {
    ses_that_waits(TIMEOUT, url, configuration_set)
}

fn ses_that_waits(timeout: Duration, url: &str, configuration_set: Option<&str>) -> Ses {
    ses_with(timeout, url, configuration_set, Clock::system())
}

/// A sender that uses the clock of the service.
fn ses_of(app: &TestApp, url: &str) -> Ses {
    ses_with(TIMEOUT * 10, url, None, app.app.clock.clone())
}

fn ses_with(timeout: Duration, url: &str, configuration_set: Option<&str>, clock: Clock) -> Ses {
    // In the emulator, the sender is verified only in this region.
    let endpoint = Endpoint::new(Service::Ses, url, "eu-central-1", Credentials::new("test", "test", None, None, "test"));
    let client = Client::new(endpoint, AwsHttp::from_env().unwrap());
    Ses::new(client, configuration_set.map(str::to_owned), timeout, clock)
}

/// A service with an email to `ada@example.com` in its outbox. Also returns the id of the email.
async fn outbox(fields: Value) -> (TestApp, String) {
    let app = TestApp::start().await;
    let id = app.send_mail(fields).await;
    (app, id)
}
