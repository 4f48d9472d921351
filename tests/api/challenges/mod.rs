//! Bot challenges, with tests about their settings, the callers who must solve them, the accepted
//! solutions, and the effects of a flood of requests.

pub(crate) mod altcha;
mod attack;
mod settings;
mod suspicion;
mod turnstile;

use serde_json::{Value, json};
use support::{Answer, Caller, TestApp};

pub(crate) const SIGN_UP: &str = "/api/v1/auth/password/sign-up";
pub(crate) const SEND: &str = "/api/v1/auth/otp/send-sign-in-code";

/// Configures the project's bot challenge.
pub(crate) async fn guard(app: &TestApp, settings: Value) {
    app.configure(json!({ "config": { "bot_challenge": settings } })).await;
}

/// Sets the project's usual number of requests per hour.
async fn usual(app: &TestApp, requests: u32) {
    app.configure(json!({ "config": { "bot_challenge_usual_requests_per_hour": requests } })).await;
}

fn at(caller: Caller, address: &str) -> Caller {
    caller.with("cloudfront-viewer-address", &format!("{address}:4711"))
}

/// The body of a request for a sign-in code, with these additional fields.
fn code_for(email: &str, fields: Value) -> Value {
    with(json!({ "email": email, "callback_url": "http://localhost:3000/magic" }), fields)
}

/// The body of a sign-up, with these additional fields.
pub(crate) fn account_of(email: &str, fields: Value) -> Value {
    with(json!({ "email": email, "password": "correct horse battery" }), fields)
}

fn with(mut body: Value, fields: Value) -> Value {
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

/// Asserts that the response requires a challenge.
#[track_caller]
fn assert_required(answer: &Answer) {
    assert_eq!((answer.status(), answer.code().as_str()), (409, "BOT_CHALLENGE_REQUIRED"), "{}", answer.text());
}

/// Asserts that a visible challenge failed, and returns the message for the user.
#[track_caller]
fn assert_failed(answer: &Answer) -> String {
    assert_eq!((answer.status(), answer.code().as_str()), (400, "BOT_CHALLENGE_FAILED"), "{}", answer.text());
    answer.json()["details"]["message"].as_str().unwrap().to_owned()
}
