//! Emails satisfy the strictest mail server (RFC 5321, RFC 5322): the server in these tests
//! complains about every deviation. The client understands all replies that the standards permit.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use email::smtp::Smtp;
use rustls::RootCertStore;
use serde_json::{Value, json};
use support::mail_server::{Behaviour, MailServer};
use wire::clock::Clock;

use super::{PASSWORD, TIMEOUT, email_config, outbox, send_emails, send_emails_by};

/// Sends an email with these fields of the outbox through a server that behaves in this way.
/// Returns the message and the commands.
async fn sent(behaviour: Behaviour, config: Value, fields: Value) -> (String, Vec<String>) {
    let server = MailServer::start(vec![behaviour]).await;
    let mut own = email_config("127.0.0.1", server.port);
    own.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
    let (app, id) = outbox(own, json!({})).await;
    let answer = app.server().patch(&format!("/api/v1/emails/outbox/{id}"), fields).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    send_emails(&app).await;
    let entry = app.outbox_entry(&id).await;
    assert_eq!(entry["status"], "sent", "{behaviour:?} {entry}");
    (server.messages().remove(0), server.commands())
}

fn open() -> Value {
    json!({ "username": "", "password": "" })
}

/// The header fields of a message, with folded lines joined.
fn fields(message: &str) -> Vec<(String, String)> {
    let (head, _) = message.split_once("\r\n\r\n").unwrap();
    let lines = head.replace("\r\n ", " ").replace("\r\n\t", " ");
    lines
        .split("\r\n")
        .map(|line| line.split_once(": ").unwrap_or_else(|| panic!("{line:?} in {head}")))
        .map(|(n, v)| (n.to_owned(), v.to_owned()))
        .collect()
}

#[tokio::test]
async fn replies_without_text_are_understood() {
    let (message, commands) = sent(Behaviour::Mute, json!({}), json!({})).await;
    assert!(message.contains("Message-ID"), "{message}");
    assert!(commands[1].starts_with("AUTH PLAIN ") && commands.last().is_some_and(|last| last == "QUIT"), "{commands:?}");
}

#[tokio::test]
async fn a_server_without_plain_gets_a_login_step_by_step() {
    let (_, commands) = sent(Behaviour::LoginOnly, json!({}), json!({})).await;
    assert_eq!(commands[1..4], ["AUTH LOGIN".to_owned(), STANDARD.encode("notes"), STANDARD.encode(PASSWORD)]);
}

#[tokio::test]
async fn a_login_that_does_not_fit_into_a_command_follows_it() {
    let password = "p".repeat(500);
    let (_, commands) = sent(Behaviour::Well, json!({ "password": password }), json!({})).await;
    assert_eq!(commands[1..3], ["AUTH PLAIN".to_owned(), STANDARD.encode(format!("\0notes\0{password}"))]);
}

#[tokio::test]
async fn a_server_that_does_not_know_ehlo_is_greeted_by_helo() {
    for answer in ["500 what?", "502 5.5.1 not implemented"] {
        let (_, commands) = sent(Behaviour::Answers("EHLO", answer), open(), json!({})).await;
        assert_eq!(commands[1], commands[0].replace("EHLO", "HELO"), "{commands:?}");
    }
}

#[tokio::test]
async fn a_refused_client_says_goodbye() {
    for stage in ["220", "EHLO", "AUTH", "MAIL", "RCPT", "DATA", "."] {
        let server = MailServer::start(vec![Behaviour::Answers(stage, "554 no")]).await;
        let (app, _) = outbox(email_config("127.0.0.1", server.port), json!({})).await;
        send_emails(&app).await;
        assert_eq!(server.commands().last().map(String::as_str), Some("QUIT"), "{stage}");
    }
}

#[tokio::test]
async fn every_kind_of_content_is_sent_as_short_lines_of_ascii() {
    let long = "x".repeat(3_000);
    let dots = ".\n..\n.a\n.";
    for (subject, html, text) in [
        ("Plain", format!("<p>{long}</p>"), long.clone()),
        ("Dots", format!("<pre>{dots}</pre>"), dots.to_owned()),
        ("Line ends", "<p>a\rb\nc\r\nd</p>\n.\r\n".to_owned(), "a\rb\nc\r\n.\rd\n.\n".to_owned()),
        (
            "Grüße an alle, die einen Betreff mit sehr vielen Wörtern und Ümläuten lesen mögen, auch wenn er lang ist",
            "<p>ü</p>".to_owned(),
            "ü".to_owned(),
        ),
        ("a-subject-of-one-word-".repeat(11).as_str(), "<p>a</p>".to_owned(), String::new()),
        ("ü".repeat(200).as_str(), "<p>日本語</p>".to_owned(), "日本語\n".repeat(500)),
        ("=?utf-8?q?not_encoded?=", "<p>a</p>".to_owned(), "a".to_owned()),
    ] {
        let html = format!("{{% raw %}}{html}{{% endraw %}}");
        let mut body = json!({ "subject_source": subject, "html_source": html });
        if !text.is_empty() {
            body["text_source"] = json!(text);
        }
        let (message, _) = sent(Behaviour::Well, json!({}), body).await;
        assert!(message.lines().all(|line| line.len() <= 998), "{subject}");
        let found = fields(&message);
        let count = |name: &str| found.iter().filter(|(field, _)| field == name).count();
        for name in ["From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"] {
            assert_eq!(count(name), 1, "{name} of {subject}: {found:?}");
        }
    }
}

#[tokio::test]
async fn fifty_recipients_and_a_sender_s_long_name_fit_into_the_header() {
    let server = MailServer::start(vec![Behaviour::Well]).await;
    let mut config = email_config("127.0.0.1", server.port);
    config["sender_name"] = json!(format!("Größe, \"Name\" <{}>", "n".repeat(200)));
    let (app, id) = outbox(config, json!({})).await;
    let to: Vec<String> = (0..50).map(|number| format!("{}{number}@bücher.example", "r".repeat(50))).collect();
    let change = json!({ "to": { "type": "custom-emails", "emails": to } });
    let answer = app.server().patch(&format!("/api/v1/emails/outbox/{id}"), change).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    send_emails_by(&app, Smtp::new(&app.app.settings, RootCertStore::empty(), TIMEOUT * 10, Clock::system())).await;
    let message = server.messages().remove(0);
    assert!(message.lines().all(|line| line.len() <= 998), "{message}");
    let recipients =
        server.commands().iter().filter(|line| line.starts_with("RCPT TO:<r") && line.ends_with("@xn--bcher-kva.example>")).count();
    assert_eq!(recipients, 50);
}

#[tokio::test]
async fn only_the_service_s_own_emails_ask_programs_not_to_answer() {
    let server = MailServer::start(vec![Behaviour::Well]).await;
    let (app, _) = outbox(email_config("127.0.0.1", server.port), json!({})).await;
    let callback = json!({ "email": "bob@example.com", "callback_url": "http://localhost:3000/x" });
    app.sign_up("bob@example.com").await;
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", callback).await.status(), 200);
    send_emails(&app).await;
    let messages = server.messages();
    let of = |to: &str| messages.iter().filter(|message| fields(message).contains(&("To".to_owned(), to.to_owned()))).collect::<Vec<_>>();
    let automatic =
        |message: &str| fields(message).iter().any(|field| *field == ("Auto-Submitted".to_owned(), "auto-generated".to_owned()));
    assert!(!of("bob@example.com").is_empty() && of("bob@example.com").iter().all(|message| automatic(message)), "{messages:?}");
    let of_project = of("ada@example.com").into_iter().filter(|message| message.contains("Hello")).collect::<Vec<_>>();
    let [news] = of_project.as_slice() else { panic!("{messages:?}") };
    assert!(!automatic(news), "{news}");
}
