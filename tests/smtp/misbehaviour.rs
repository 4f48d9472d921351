//! Emails that the project's server accepts or rejects, and the server's replies in the outbox.
//! `stages.rs` covers all ways that a conversation can end early.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use email::smtp::{ProjectMailer, Smtp};
use jiff::SignedDuration;
use rustls::RootCertStore;
use serde_json::{Value, json};
use support::TestApp;
use wire::clock::Clock;

use super::{PASSWORD, TIMEOUT, class, email_config, outbox, send_emails};
use support::mail_server::{Behaviour, MailServer};

/// Sends an email through a server that behaves in these ways. Returns the service, the server, and
/// the entry and the id of the email in the outbox.
async fn sent(behaviours: Vec<Behaviour>) -> (TestApp, MailServer, Value, String) {
    let server = MailServer::start(behaviours).await;
    let (app, id) = outbox(email_config("127.0.0.1", server.port), json!({})).await;
    send_emails(&app).await;
    let entry = app.outbox_entry(&id).await;
    assert!(!entry.to_string().contains(PASSWORD), "{entry}");
    (app, server, entry, id)
}

#[tokio::test]
async fn an_email_is_a_message_from_the_project_s_sender_to_its_recipient() {
    let (app, server, entry, id) = sent(vec![Behaviour::Well]).await;
    assert_eq!((&entry["status"], &entry["can_have_delivery_info"]), (&json!("sent"), &json!(false)), "{entry}");
    let login = STANDARD.encode(format!("\0notes\0{PASSWORD}"));
    let commands = server.commands();
    let expected = [&format!("AUTH PLAIN {login}"), "MAIL FROM:<notes@example.org>", "RCPT TO:<ada@example.com>", "DATA", "QUIT"]
        .map(ToOwned::to_owned);
    assert_eq!(commands[1..], expected);
    let messages = server.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    let (head, body) = message.split_once("\r\n\r\n").unwrap();
    for line in [
        "From: =?utf-8?b?R3LDvMOfZQ==?= <notes@example.org>",
        "To: ada@example.com",
        &format!("Message-ID: <{id}@"),
        "Date: ",
        "MIME-Version: 1.0",
        "Content-Type: multipart/alternative;",
    ] {
        assert!(head.lines().any(|found| found.starts_with(line)), "{line} in {head}");
    }
    assert!(
        message.is_ascii() && !head.contains("Grüße") && head.contains("\r\nSubject: ") && !head.contains("List-Unsubscribe"),
        "{head}"
    );
    let (plain, html) = (body.find("Content-Type: text/plain").unwrap(), body.find("Content-Type: text/html").unwrap());
    assert!(plain < html, "{body}");
    assert!(body[html..].contains("=C3=9Cnion") || body[html..].contains("base64"), "{body}");
    assert!(app.inbox.messages(None).iter().all(|mail| mail.outbox_id != id), "the email is also in the inbox");
}

#[tokio::test]
async fn marketing_emails_have_unsubscribe_headers() {
    let server = MailServer::start(vec![Behaviour::Open]).await;
    let mut config = email_config("127.0.0.1", server.port);
    (config["username"], config["password"]) = (json!(""), json!(""));
    let (app, _) = outbox(config, json!({ "notification_category_name": "Marketing" })).await;
    send_emails(&app).await;
    let message = server.messages().remove(0).replace("\r\n ", "");
    assert!(message.contains("List-Unsubscribe: <http://localhost"), "{message}");
    assert!(message.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"), "{message}");
    assert!(server.commands().iter().all(|command| !command.starts_with("AUTH")));
}

#[tokio::test]
async fn a_temporary_smtp_rejection_is_retried_and_sent_once() {
    for (behaviour, expected) in [
        (Behaviour::Answers("RCPT", "450 mailbox busy"), "TEMPORARY"),
        (Behaviour::Answers("RCPT", "552 too many recipients"), "TEMPORARY"),
        (Behaviour::Answers("RCPT", "451 greylisted"), "TRANSIENT_NEGATIVE_COMPLETION_REPLY"),
        (Behaviour::Answers("MAIL", "421 later"), "TRANSIENT_NEGATIVE_COMPLETION_REPLY"),
        (Behaviour::Answers("AUTH", "454 not now"), "TRANSIENT_NEGATIVE_COMPLETION_REPLY"),
        (Behaviour::Answers("220", "421 too many connections"), "TRANSIENT_NEGATIVE_COMPLETION_REPLY"),
        (Behaviour::Answers(".", "452 disk full"), "TRANSIENT_NEGATIVE_COMPLETION_REPLY"),
        (Behaviour::Silent("220"), "TIMEOUT"),
        (Behaviour::Silent("DATA"), "TIMEOUT"),
        // Failures that may not occur in a later attempt.
        (Behaviour::Open, "AUTH_FAILED"),
        (Behaviour::StartTls, "SOCKET_CLOSED"),
        (Behaviour::Answers("TLS", "this is not TLS"), "UNKNOWN"),
    ] {
        let (app, server, entry, id) = sent(vec![behaviour, Behaviour::Well]).await;
        assert_eq!((&entry["status"], &entry["send_retries"]), (&json!("scheduled"), &json!(1)), "{behaviour:?} {entry}");
        assert_eq!(class(&entry), expected, "{behaviour:?} {entry}");
        app.advance(SignedDuration::from_secs(60));
        send_emails(&app).await;
        assert_eq!(app.outbox_entry(&id).await["status"], "sent", "{behaviour:?}");
        assert_eq!(server.messages().len(), 1 + usize::from(behaviour == Behaviour::Answers(".", "452 disk full")), "{behaviour:?}");
    }
}

#[tokio::test]
async fn a_permanent_smtp_rejection_is_not_retried() {
    for (behaviour, expected) in [
        (Behaviour::Answers("AUTH", "535 no such user or password"), "AUTH_FAILED"),
        (Behaviour::Answers("MAIL", "530 sign in first"), "AUTH_FAILED"),
        (Behaviour::Answers("RCPT", "553 not an address"), "INVALID_EMAIL_ADDRESS"),
        (Behaviour::Answers("RCPT", "550 no such mailbox"), "REJECTED"),
        (Behaviour::Answers("MAIL", "554 not from here"), "REJECTED"),
        (Behaviour::Answers("MAIL", "552 too large"), "REJECTED"),
        (Behaviour::Answers(".", "552 too large"), "REJECTED"),
        (Behaviour::Answers(".", "554 spam"), "REJECTED"),
    ] {
        let (app, server, entry, id) = sent(vec![behaviour, Behaviour::Well]).await;
        assert_eq!((&entry["status"], class(&entry)), (&json!("server-error"), expected), "{behaviour:?} {entry}");
        if let Behaviour::Answers(_, text) = behaviour {
            let error = &entry["send_attempt_errors"][0];
            assert_eq!(error["internal_message"], text);
            assert!(error["external_message"].as_str().unwrap().ends_with(&format!(": {text}")), "{error}");
            assert_eq!(error["external_message"], entry["server_error"]);
        }
        let attempts = server.attempts();
        app.advance(SignedDuration::from_hours(2));
        send_emails(&app).await;
        assert_eq!((server.attempts(), app.outbox_entry(&id).await), (attempts, entry), "{behaviour:?}");
    }
}

#[tokio::test]
async fn an_email_of_unknown_outcome_is_not_resent() {
    for behaviour in [Behaviour::Cuts("."), Behaviour::Silent("."), Behaviour::Babbles("."), Behaviour::Answers(".", "what?")] {
        let (app, server, entry, id) = sent(vec![behaviour, Behaviour::Well]).await;
        assert_eq!((&entry["status"], class(&entry)), (&json!("server-error"), "UNKNOWN"), "{behaviour:?} {entry}");
        assert!(entry["server_error"].as_str().unwrap().contains("may or may not have been sent"), "{entry}");
        app.advance(SignedDuration::from_hours(2));
        send_emails(&app).await;
        assert_eq!((server.messages().len(), app.outbox_entry(&id).await), (1, entry), "{behaviour:?}");
    }
}

#[tokio::test]
async fn a_password_echoed_by_the_server_is_not_exposed() {
    let said: &'static str = Box::leak(format!("535 {PASSWORD} is wrong").into_boxed_str());
    let (_, _, entry, _) = sent(vec![Behaviour::Answers("AUTH", said)]).await;
    for message in ["internal_message", "external_message"] {
        assert!(entry["send_attempt_errors"][0][message].as_str().unwrap().ends_with("535 … is wrong"), "{entry}");
    }
}

#[tokio::test]
async fn responses_before_starttls_are_discarded() {
    let (_, server, entry, _) = sent(vec![Behaviour::StartTls]).await;
    assert_eq!((&entry["status"], class(&entry)), (&json!("scheduled"), "SOCKET_CLOSED"));
    assert!(server.commands().iter().all(|command| !command.starts_with("AUTH")), "{:?}", server.commands());
}

#[tokio::test]
async fn an_unreachable_server_is_retried() {
    // A port that no server listens on.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let (app, id) = outbox(email_config("127.0.0.1", port), json!({})).await;
    send_emails(&app).await;
    let first = app.outbox_entry(&id).await;
    assert_eq!((&first["status"], class(&first)), (&json!("scheduled"), "TEMPORARY"), "{first}");
}

#[tokio::test]
async fn an_unresponsive_server_is_paused_briefly() {
    let server = MailServer::start(vec![Behaviour::Silent("EHLO"), Behaviour::Well]).await;
    let (app, id) = outbox(email_config("127.0.0.1", server.port), json!({})).await;
    let own = Smtp::new(&app.app.settings, RootCertStore::empty(), TIMEOUT, Clock::system());
    let mailer = ProjectMailer { own, deployments: app.inbox.clone() };
    for (attempt, expected) in ["TIMEOUT", "TEMPORARY"].into_iter().enumerate() {
        app.send_emails_by(&mailer).await;
        let errors = app.outbox_entry(&id).await["send_attempt_errors"].clone();
        assert_eq!(errors[attempt]["external_details"]["errorType"], expected, "{errors}");
        app.advance(SignedDuration::from_mins(2));
    }
    assert_eq!(server.attempts(), 1);
}

#[tokio::test]
async fn mail_servers_at_loopback_or_private_addresses_are_rejected() {
    let server = MailServer::start(vec![Behaviour::Well]).await;
    // The name may have a different address later. The outbox does not show whether the name has a
    // private address or no address.
    for (host, status) in [
        ("127.0.0.1", "server-error"),
        ("[::ffff:127.0.0.1]", "server-error"),
        ("localhost", "scheduled"),
        ("no.such.invalid", "scheduled"),
    ] {
        let (app, id) = outbox(email_config(host, server.port), json!({})).await;
        let public = app.redeployed(|settings| settings.allow_private_issuers = false);
        send_emails(&public).await;
        let entry = app.outbox_entry(&id).await;
        assert_eq!((&entry["status"], class(&entry)), (&json!(status), "HOST_NOT_FOUND"), "{host} {entry}");
        let error = &entry["send_attempt_errors"][0];
        for message in ["internal_message", "external_message"] {
            assert_eq!(error[message], "the mail server's name has no public address", "{host}");
        }
    }
    assert!(server.commands().is_empty());
}

#[tokio::test]
async fn emails_of_a_project_without_a_server_go_to_the_default_sender() {
    let server = MailServer::start(vec![Behaviour::Well]).await;
    let mut config = email_config("", 0);
    (config["username"], config["password"]) = (json!(""), json!(""));
    let (app, id) = outbox(config, json!({})).await;
    send_emails(&app).await;
    let mails = app.inbox.messages(Some("ada@example.com"));
    assert!(mails.iter().any(|mail| mail.outbox_id == id && mail.from == "\"Grüße\" <notes@example.org>"), "{mails:?}");
    assert!(server.commands().is_empty());
}
