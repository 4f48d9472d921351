//! Sending while SES does not accept emails: above its rate or its daily quota, or while the
//! account is paused. The emails wait, and nothing is lost.

use std::time::Instant;

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::TestApp;

use super::endpoint::{Behaviour, Endpoint};
use super::misbehaviour::{refused, taken};
use super::{outbox, ses_of};

const OUTBOX: &str = "/api/v1/emails/outbox";

fn throttled() -> Behaviour {
    refused(429, "TooManyRequestsException")
}

async fn send_emails(app: &TestApp, endpoint: &Endpoint) {
    app.send_emails_by(&ses_of(app, &endpoint.url)).await;
}

/// The number of emails with this status.
async fn count(app: &TestApp, status: &str) -> usize {
    app.server().get(&format!("{OUTBOX}?status={status}&limit=100")).await.json()["items"].as_array().unwrap().len()
}

/// Requests this many emails to a single user.
async fn send_many(app: &TestApp, count: usize) {
    let ada = app.sign_up("ada@example.com").await;
    let body = json!({ "user_ids": [ada.user_id], "subject": "x", "html": "<p>x</p>" });
    for _ in 0..count {
        assert_eq!(app.server().post("/api/v1/emails/send-email", body.clone()).await.status(), 200);
    }
}

#[tokio::test]
async fn an_email_refused_for_more_than_an_hour_is_then_sent_once() {
    let refusals = [
        (429, "TooManyRequestsException"),
        (400, "LimitExceededException"),
        (400, "SendingPausedException"),
        (400, "ThrottlingException"),
        (400, "Throttling"),
        (429, "Unknown"),
        (400, "SendingPausedException"),
    ];
    let answers = refusals.iter().map(|(status, code)| refused(*status, code)).chain([taken()]).collect();
    let endpoint = Endpoint::start(answers).await;
    let (app, id) = outbox(json!({})).await;
    let begin = app.now();
    for (round, (_, code)) in refusals.into_iter().enumerate() {
        send_emails(&app, &endpoint).await;
        let entry = app.outbox_entry(&id).await;
        assert_eq!((&entry["status"], &entry["simple_status"]), (&json!("scheduled"), &json!("in-progress")), "{round}: {entry}");
        let wait = entry["next_send_retry_at_millis"].as_i64().unwrap() - app.now().as_millisecond();
        assert!((20_000..=if round == 0 { 60_000 } else { 600_000 }).contains(&wait), "{round}: {wait}");
        // The entry lists the first and the last time that SES refused the email.
        let errors = entry["send_attempt_errors"].as_array().unwrap();
        let last = errors.last().unwrap();
        assert_eq!((errors.len(), &last["external_details"]["errorType"]), ((round + 1).min(2), &json!("NOT_NOW")), "{entry}");
        assert!(last["internal_message"].as_str().unwrap().starts_with(code), "{last}");
        assert!(!last["external_message"].as_str().unwrap().contains(code), "{last}");
        app.advance(SignedDuration::from_mins(10));
    }
    assert!(app.now().duration_since(begin) > SignedDuration::from_hours(1));
    for _ in 0..2 {
        send_emails(&app, &endpoint).await;
        app.advance(SignedDuration::from_hours(1));
    }
    assert_eq!((&app.outbox_entry(&id).await["status"], endpoint.requests().len()), (&json!("sent"), refusals.len() + 1));
}

#[tokio::test]
async fn an_email_refused_for_a_day_fails_and_says_so() {
    let endpoint = Endpoint::start(vec![throttled()]).await;
    let (app, id) = outbox(json!({})).await;
    for hours in [0, 5, 10, 15, 20] {
        send_emails(&app, &endpoint).await;
        assert_eq!(app.outbox_entry(&id).await["status"], "scheduled", "{hours}");
        app.advance(SignedDuration::from_hours(5));
    }
    for _ in 0..2 {
        send_emails(&app, &endpoint).await;
        let entry = app.outbox_entry(&id).await;
        assert_eq!((&entry["status"], endpoint.requests().len()), (&json!("server-error"), 6), "{entry}");
        assert_eq!(entry["server_error"], "the email service has not accepted any emails for a day");
        app.advance(SignedDuration::from_hours(5));
    }
}

#[tokio::test]
async fn a_refused_email_is_skipped_once_its_code_has_expired() {
    let endpoint = Endpoint::start(vec![throttled()]).await;
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x" });
    assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.status(), 200);
    send_emails(&app, &endpoint).await;
    assert_eq!((count(&app, "scheduled").await, endpoint.requests().len()), (1, 1));
    app.advance(SignedDuration::from_mins(11));
    send_emails(&app, &endpoint).await;
    let skipped: Value = app.server().get(&format!("{OUTBOX}?status=skipped")).await.json();
    assert_eq!((&skipped["items"][0]["skipped_reason"], endpoint.requests().len()), (&json!("CODE_EXPIRED"), 1), "{skipped}");
}

#[tokio::test]
async fn refused_emails_use_no_quota_of_their_project() {
    let endpoint = Endpoint::start([vec![taken(); 14], vec![throttled()]].concat()).await;
    let app = TestApp::start_sending(60).await;
    send_many(&app, 70).await;
    send_emails(&app, &endpoint).await;
    let refused = count(&app, "scheduled").await;
    assert_eq!((count(&app, "sent").await, endpoint.requests().len()), (14, 14 + refused));
    endpoint.then(taken());
    app.advance(SignedDuration::from_secs(60));
    send_emails(&app, &endpoint).await;
    // 46 tokens remain from the first turn, and one is added in a minute.
    assert_eq!((count(&app, "sent").await, count(&app, "queued").await), (14 + 47, 9));
}

#[tokio::test]
async fn once_ses_refuses_for_now_the_turn_ends() {
    let endpoint = Endpoint::start(vec![throttled()]).await;
    let app = TestApp::start().await;
    send_many(&app, 70).await;
    let began = Instant::now();
    send_emails(&app, &endpoint).await;
    // The turn ends after the chunk of at most 50 emails in which SES refuses some. The number of
    // emails that are claimed depends on timing. Each turn ends with a pause of a second, and
    // further turns of one email each may follow.
    let (most, refused) = (50 + began.elapsed().as_secs(), count(&app, "scheduled").await);
    assert!((1..=most).contains(&(refused as u64)), "{refused}");
    assert_eq!((count(&app, "queued").await, endpoint.requests().len()), (70 - refused, refused));
}

#[tokio::test]
async fn while_ses_refuses_a_turn_tries_one_email_and_moves_no_other() {
    let endpoint = Endpoint::start(vec![throttled()]).await;
    let app = TestApp::start().await;
    send_many(&app, 70).await;
    let ses = ses_of(&app, &endpoint.url);
    app.send_emails_by(&ses).await;
    let mut refused = count(&app, "scheduled").await;
    for _ in 0..2 {
        app.recorder.clear();
        let began = Instant::now();
        app.send_emails_by(&ses).await;
        let writes = app.recorder.writes();
        let before = std::mem::replace(&mut refused, count(&app, "scheduled").await);
        // Each turn takes at least a second. If a turn ends late, the next turn follows
        // immediately.
        let turns = refused - before;
        assert!((1..=began.elapsed().as_secs()).contains(&(turns as u64)), "{turns}");
        assert!(writes.len() <= 4 * turns, "a claim, an outcome, and the project's quota: {writes:?}");
        assert_eq!((count(&app, "queued").await, endpoint.requests().len()), (70 - refused, refused));
    }
    // The first email is accepted, so the remaining emails follow in the same turn.
    endpoint.then(taken());
    app.send_emails_by(&ses).await;
    assert_eq!((count(&app, "sent").await, count(&app, "queued").await), (70 - refused, 0));
    app.advance(SignedDuration::from_mins(10));
    app.send_emails_by(&ses).await;
    assert_eq!((count(&app, "sent").await, endpoint.requests().len()), (70, refused + 70));
}
