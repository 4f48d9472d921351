//! Conversations that end early, at every stage and in every way. Before the end of the message,
//! the email was certainly not sent, so it is tried again. After the end of the message, only a
//! reply shows whether the email was sent.

use std::time::Duration;

use email::smtp::Smtp;
use futures_util::future::join_all;
use jiff::SignedDuration;
use rustls::RootCertStore;
use serde_json::{Value, json};
use support::mail_server::{Behaviour, MailServer};
use wire::clock::Clock;

use super::{class, email_config, outbox, send_emails_by};

/// Every stage before the end of the message.
const BEFORE: [&str; 9] = ["220", "EHLO", "STAR", "TLS", "AUTH", "MAIL", "RCPT", "DATA", "354"];
/// A wait that is longer than any conversation in these tests.
const AMPLE: Duration = Duration::from_secs(60);

/// The result of an attempt, as the outbox shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The email is tried again, and has this class of failure.
    Again(&'static str),
    /// The email has failed permanently.
    Refused,
    /// The email may have been sent.
    Unknown,
}

/// Sends an email through a server that misbehaves only on the first connection, and sends it again
/// when the next attempt is due.
async fn judge(behaviour: Behaviour, then: Outcome) {
    let server = MailServer::start(vec![behaviour, Behaviour::Well]).await;
    let (app, id) = outbox(email_config("127.0.0.1", server.port), json!({})).await;
    // Only a server that sends nothing makes the client wait for the timeout.
    let timeout = if matches!(behaviour, Behaviour::Silent(_)) { Duration::from_secs(2) } else { AMPLE };
    let send_emails = async |timeout| {
        send_emails_by(&app, Smtp::new(&app.app.settings, RootCertStore::empty(), timeout, Clock::system())).await;
        app.outbox_entry(&id).await
    };
    let first = send_emails(timeout).await;
    let attempts = server.attempts();
    app.advance(SignedDuration::from_mins(2));
    let second = send_emails(AMPLE).await;
    match then {
        Outcome::Again(expected) => {
            assert_eq!(
                (&first["status"], class(&first), &first["send_retries"]),
                (&json!("scheduled"), expected, &json!(1)),
                "{behaviour:?} {first}"
            );
            assert_eq!((&second["status"], server.attempts()), (&json!("sent"), attempts + 1), "{behaviour:?} {second}");
        }
        Outcome::Refused | Outcome::Unknown => {
            assert_eq!(
                (&first["status"], class(&first) == "UNKNOWN"),
                (&json!("server-error"), then == Outcome::Unknown),
                "{behaviour:?} {first}"
            );
            assert_eq!((second, server.attempts()), (first, attempts), "{behaviour:?}");
        }
    }
}

async fn judge_all(cases: impl IntoIterator<Item = (Behaviour, Outcome)>) {
    let cases: Vec<_> = cases.into_iter().collect();
    for some in cases.chunks(8) {
        join_all(some.iter().map(|(behaviour, then)| judge(*behaviour, *then))).await;
    }
}

#[tokio::test]
async fn an_email_is_retried_if_the_connection_ends_before_the_end_of_the_message() {
    let ends = |stage| [Behaviour::Cuts(stage), Behaviour::Resets(stage)];
    judge_all(BEFORE.into_iter().flat_map(ends).map(|behaviour| (behaviour, Outcome::Again("SOCKET_CLOSED")))).await;
}

#[tokio::test]
async fn an_email_is_retried_if_a_reply_is_late_before_the_end_of_the_message() {
    // If the network accepts everything, the client does not notice until the end of the message
    // that the server has not read it.
    let stages = BEFORE.into_iter().filter(|stage| *stage != "354");
    judge_all(stages.map(|stage| (Behaviour::Silent(stage), Outcome::Again("TIMEOUT")))).await;
}

#[tokio::test]
async fn an_email_is_retried_if_a_reply_makes_no_sense_before_the_end_of_the_message() {
    let stages = BEFORE.into_iter().filter(|stage| *stage != "TLS");
    let nonsense = |stage| {
        // Nonsense includes replies that belong to other commands.
        let other = if stage == "DATA" { "250 what" } else { "354 what" };
        [Behaviour::Answers(stage, "what?"), Behaviour::Answers(stage, other), Behaviour::Babbles(stage)]
    };
    let cases = stages.flat_map(nonsense).map(|behaviour| (behaviour, Outcome::Again("SOCKET_CLOSED")));
    judge_all(cases.chain([(Behaviour::Answers("TLS", "what?"), Outcome::Again("UNKNOWN"))])).await;
}

#[tokio::test]
async fn an_email_is_retried_if_the_server_refuses_for_now_and_not_if_for_good() {
    let stages = BEFORE.into_iter().filter(|stage| *stage != "TLS").chain(["."]);
    let refusals = |stage| {
        [
            (Behaviour::Answers(stage, "421 later"), Outcome::Again("TRANSIENT_NEGATIVE_COMPLETION_REPLY")),
            (Behaviour::Answers(stage, "450"), Outcome::Again("TEMPORARY")),
            (Behaviour::Answers(stage, "550-no\r\n550"), Outcome::Refused),
        ]
    };
    judge_all(stages.flat_map(refusals)).await;
}

#[tokio::test]
async fn an_email_is_never_resent_if_its_end_got_no_answer() {
    let cases = [
        Behaviour::Cuts("."),
        Behaviour::Resets("."),
        Behaviour::Silent("."),
        Behaviour::Babbles("."),
        Behaviour::Answers(".", "what?"),
        Behaviour::Answers(".", "354 go on"),
        Behaviour::Answers(".", "250-a\r\n550 b"),
    ];
    judge_all(cases.map(|behaviour| (behaviour, Outcome::Unknown))).await;
}

#[tokio::test]
async fn five_attempts_are_made_if_a_server_closes_or_its_name_does_not_resolve() {
    let server = MailServer::start(vec![Behaviour::Cuts("MAIL")]).await;
    for (host, expected) in [("127.0.0.1", "SOCKET_CLOSED"), ("no.such.invalid", "HOST_NOT_FOUND")] {
        let (app, id) = outbox(email_config(host, server.port), json!({})).await;
        for attempt in 1..=5 {
            send_emails_by(&app, Smtp::new(&app.app.settings, RootCertStore::empty(), AMPLE, Clock::system())).await;
            let entry = app.outbox_entry(&id).await;
            let status = if attempt < 5 { "scheduled" } else { "server-error" };
            assert_eq!((entry["status"].as_str(), class(&entry)), (Some(status), expected), "{attempt} {entry}");
            assert_eq!(entry["send_attempt_errors"].as_array().map(Vec::len), Some(attempt), "{entry}");
            app.advance(SignedDuration::from_mins(20));
        }
        let last: Value = app.outbox_entry(&id).await;
        send_emails_by(&app, Smtp::new(&app.app.settings, RootCertStore::empty(), AMPLE, Clock::system())).await;
        assert_eq!(app.outbox_entry(&id).await, last);
    }
    assert_eq!(server.attempts(), 5);
}

#[tokio::test]
async fn the_outbox_keeps_a_bounded_part_of_a_server_s_words() {
    let said: &'static str = Box::leak(format!("550 spam{}", "!".repeat(3_000)).into_boxed_str());
    let server = MailServer::start(vec![Behaviour::Answers(".", said)]).await;
    let (app, id) = outbox(email_config("127.0.0.1", server.port), json!({})).await;
    send_emails_by(&app, Smtp::new(&app.app.settings, RootCertStore::empty(), AMPLE, Clock::system())).await;
    let entry = app.outbox_entry(&id).await;
    for message in ["internal_message", "external_message"] {
        let message = entry["send_attempt_errors"][0][message].as_str().unwrap();
        assert!(message.contains("550 spam!!!") && message.chars().count() == 1_000, "{message}");
    }
}
