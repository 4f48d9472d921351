//! Sliding windows. A burst never exceeds the quota, even if it crosses the boundary of a window.

use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::json;
use support::TestApp;

use super::*;

const RATE: Rate = Rate::new(4, 600);

/// Uses up the quota of four requests, and advances the clock until another request is permitted.
/// When this function returns, a new window has just started.
async fn full<F: Future<Output = Answer>>(app: &TestApp, send: impl FnMut(usize) -> F) {
    let (let_through, refused) = exhaust(send).await;
    assert_eq!(let_through, 4);
    let seconds: i64 = refused.header("retry-after").unwrap().parse().unwrap();
    app.advance(SignedDuration::from_secs(seconds));
}

/// The number of requests that are permitted now, and the number of seconds to wait after these
/// requests.
async fn room<F: Future<Output = Answer>>(send: impl FnMut(usize) -> F) -> (usize, i64) {
    let (let_through, refused) = exhaust(send).await;
    (let_through, refused.header("retry-after").unwrap().parse().unwrap())
}

#[tokio::test]
async fn a_client_that_waits_for_retry_after_is_admitted() {
    let app = TestApp::start_with(only(Rule::SignIn, 4, 600)).await;
    let client = app.client();
    let (_, refused) = exhaust(|number| client.post(SIGN_IN, nobody(number))).await;
    let seconds = assert_refused(&refused, "sign-in", RATE);
    app.advance(SignedDuration::from_secs(seconds - 1));
    assert_refused(&client.post(SIGN_IN, nobody(0)).await, "sign-in", RATE);
    app.advance(SignedDuration::from_secs(1));
    assert!(!is_refused(&client.post(SIGN_IN, nobody(0)).await));
}

#[tokio::test]
async fn an_address_cannot_double_its_quota_at_a_window_boundary() {
    let app = TestApp::start_with(only(Rule::SignIn, 4, 600)).await;
    let client = app.client();
    let send = |number: usize| client.post(SIGN_IN, nobody(number));
    full(&app, send).await;
    let (let_through, seconds) = room(send).await;
    assert_eq!(let_through, 1);
    app.advance(SignedDuration::from_secs(seconds));
    assert!(!is_refused(&send(0).await));
    // After a window without requests, the full quota is available.
    app.advance(SignedDuration::from_secs(1200));
    assert_eq!(room(send).await.0, 4);
}

#[tokio::test]
async fn servers_cannot_double_their_quota_at_a_window_boundary() {
    let app = TestApp::start_with(only(Rule::CodeServer, 4, 600)).await;
    let server = app.server();
    let send = |_| server.post(CHECK, json!({ "code": "0".repeat(45) }));
    full(&app, send).await;
    assert_eq!(room(send).await.0, 1);
}

#[tokio::test]
async fn password_guesses_cannot_be_doubled_at_a_window_boundary() {
    let app = TestApp::start_with(only(Rule::SignInFailures, 4, 600)).await;
    app.sign_up("ada@example.com").await;
    let client = app.client();
    let guess = |_| client.post(SIGN_IN, json!({ "email": "ada@example.com", "password": "wrong horse battery" }));
    full(&app, guess).await;
    assert_eq!(room(guess).await.0, 1);
    // A correct password must also wait, but not longer than announced.
    let right = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    let refused = client.post(SIGN_IN, right.clone()).await;
    let seconds = assert_refused(&refused, "sign-in", RATE);
    app.advance(SignedDuration::from_secs(seconds));
    assert_eq!(client.post(SIGN_IN, right).await.status(), 200);
}

#[tokio::test]
async fn emails_to_a_recipient_cannot_be_doubled_at_a_window_boundary() {
    let app = TestApp::start_with(only(Rule::SendCodeRecipient, 4, 600)).await;
    app.sign_up("ada@example.com").await;
    let client = app.client();
    for email in ["ada@example.com", "nobody@example.com"] {
        let send = |_| client.post(SEND_RESET, reset_of(email));
        full(&app, send).await;
        assert_eq!(room(send).await.0, 1, "{email}");
    }
}

#[tokio::test]
async fn refreshes_cannot_be_doubled_at_a_window_boundary() {
    let app = TestApp::start_with(only(Rule::Token, 4, 600)).await;
    let ada = app.sign_up("ada@example.com").await;
    let client = app.signed_in(&ada);
    let refresh = |_| client.post(REFRESH, json!({}));
    full(&app, refresh).await;
    assert_eq!(room(refresh).await.0, 1);
}

#[tokio::test]
async fn a_rejection_is_cached_until_the_wait_is_over() {
    let app = TestApp::start_with(Limits::off().with(Rule::SignIn, Some(RATE))).await;
    let client = app.client();
    let (_, refused) = exhaust(|number| client.post(SIGN_IN, nobody(number))).await;
    let seconds = assert_refused(&refused, "sign-in", RATE);
    app.recorder.clear();
    app.advance(SignedDuration::from_secs(1));
    let again = client.post(SIGN_IN, nobody(0)).await;
    assert_eq!(assert_refused(&again, "sign-in", RATE), seconds - 1);
    assert!(app.recorder.calls().iter().all(|(operation, _)| operation == "BatchGetItem"), "{:?}", app.recorder.calls());
}
