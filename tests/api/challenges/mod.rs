//! Bot challenges: who is asked for one, what counts as solved, and what a flood comes to.

pub(crate) mod altcha;
mod attack;
mod settings;
mod suspicion;
mod turnstile;

use serde_json::{Value, json};
use support::{Answer, Caller, TestApp};

pub(crate) const SIGN_UP: &str = "/api/v1/auth/password/sign-up";
pub(crate) const SEND: &str = "/api/v1/auth/otp/send-sign-in-code";

/// Settings of the project's bot challenge.
pub(crate) async fn guard(app: &TestApp, settings: Value) {
    app.configure(json!({ "config": { "bot_challenge": settings } })).await;
}

/// How many requests an hour are usual for the project.
async fn usual(app: &TestApp, requests: u32) {
    app.configure(json!({ "config": { "bot_challenge_usual_requests_per_hour": requests } })).await;
}

/// A caller at an address.
fn at(caller: Caller, address: &str) -> Caller {
    caller.with("cloudfront-viewer-address", &format!("{address}:4711"))
}

/// A request for a sign-in code, with what else it says.
fn code_for(email: &str, fields: Value) -> Value {
    with(json!({ "email": email, "callback_url": "http://localhost:3000/magic" }), fields)
}

/// A sign-up, with what else it says.
pub(crate) fn account_of(email: &str, fields: Value) -> Value {
    with(json!({ "email": email, "password": "correct horse battery" }), fields)
}

fn with(mut body: Value, fields: Value) -> Value {
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

/// Asserts that the app is asked to show a challenge.
#[track_caller]
fn assert_required(answer: &Answer) {
    assert_eq!((answer.status(), answer.code().as_str()), (409, "BOT_CHALLENGE_REQUIRED"), "{}", answer.text());
    assert_eq!(answer.header("x-stack-known-error"), Some("BOT_CHALLENGE_REQUIRED"));
}

/// Asserts that a challenge which the user saw did not let it through, and gives what the user is told.
#[track_caller]
fn assert_failed(answer: &Answer) -> String {
    assert_eq!((answer.status(), answer.code().as_str()), (400, "BOT_CHALLENGE_FAILED"), "{}", answer.text());
    answer.json()["details"]["message"].as_str().unwrap().to_owned()
}
