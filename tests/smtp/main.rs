//! Sending through a project's mail server, with the worker's real client, against misbehaving
//! servers and, with `tests/smtp/run`, a real server.
#![expect(clippy::unwrap_used, reason = "a test fails if something is missing")]

mod misbehaviour;
mod real;
mod relays;
mod slowness;
mod stages;
mod strict;

use std::time::Duration;

use email::smtp::{ProjectMailer, Smtp};
use rustls::RootCertStore;
use serde_json::{Value, json};
use support::TestApp;
use wire::clock::Clock;

/// How long the client waits for a response.
const TIMEOUT: Duration = Duration::from_secs(2);

const PASSWORD: &str = "s3cret of the mail server";

/// The email settings of a project with this server.
fn email_config(host: &str, port: u16) -> Value {
    json!({
        "type": "standard", "host": host, "port": port, "username": "notes", "password": PASSWORD,
        "sender_name": "Grüße", "sender_email": "notes@example.org",
    })
}

/// A service whose project has this server, with an email to `ada@example.com` in the outbox. Also
/// returns the id of the email.
async fn outbox(config: Value, fields: Value) -> (TestApp, String) {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "email_config": config } })).await;
    let id = app.send_mail(fields).await;
    (app, id)
}

/// Runs the worker until nothing is due. Emails of projects without a mail server go to the inbox.
async fn send_emails(app: &TestApp) {
    let roots = RootCertStore::empty();
    send_emails_by(app, Smtp::new(&app.app.settings, roots, TIMEOUT, Clock::system())).await;
}

/// The class of the last failure of an email.
fn class(entry: &Value) -> &str {
    let errors = entry["send_attempt_errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    errors.last().and_then(|error| error["external_details"]["errorType"].as_str()).unwrap_or_default()
}

async fn send_emails_by(app: &TestApp, own: Smtp) {
    app.send_emails_by(&ProjectMailer { own, deployments: app.inbox.clone() }).await;
}
