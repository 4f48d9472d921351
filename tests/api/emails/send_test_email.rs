//! `POST /api/v1/internal/send-test-email`.

use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::mail_server::{Behaviour, MailServer};
use support::{Answer, TestApp};
use tokio::time::{Duration, Instant};

const PATH: &str = "/api/v1/internal/send-test-email";
const PASSWORD: &str = "s3cret of the mail server";

fn server(port: u16) -> Value {
    json!({
        "host": "127.0.0.1", "port": port, "username": "notes", "password": PASSWORD,
        "sender_name": "Notes", "sender_email": "notes@example.org",
    })
}

fn with(mut config: Value, fields: Value) -> Value {
    config.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    config
}

async fn test(app: &TestApp, config: &Value) -> Answer {
    app.admin().post(PATH, json!({ "recipient_email": "ada@example.com", "email_config": config })).await
}

/// Sends a test email that must fail, and returns the error message.
async fn failure(app: &TestApp, config: &Value) -> String {
    let answer = test(app, config).await;
    assert_eq!((answer.status(), &answer.json()["success"]), (200, &json!(false)), "{}", answer.text());
    answer.json()["error_message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_test_email_goes_through_the_server_of_the_request() {
    let (app, mails) = (TestApp::start().await, MailServer::start(vec![Behaviour::Well]).await);
    let answer = test(&app, &server(mails.port)).await;
    assert_eq!((answer.status(), answer.json()), (200, json!({ "success": true })));
    let [message] = &mails.messages()[..] else { panic!("{:?}", mails.messages()) };
    for part in ["From: Notes <notes@example.org>", "To: ada@example.com", "Subject: Test email from ", "This is a test email"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    // The deployment does not send an email, and the project's settings are unchanged.
    assert!(app.mails("ada@example.com").await.is_empty());
    let settings = app.admin().get("/api/v1/internal/projects/current").await.json();
    assert_eq!(settings["config"]["email_config"]["type"], "shared");
}

#[tokio::test]
async fn what_is_wrong_with_a_server_is_told_without_its_password() {
    let app = TestApp::start().await;
    let echo = "535 5.7.8 notes with s3cret of the mail server may not come in";
    for (behaviour, expected) in [
        (Behaviour::Answers("AUTH", echo), "does not allow this user to send"),
        (Behaviour::Answers("RCPT", "550 5.1.1 no such mailbox"), "refused the email: 550 5.1.1 no such mailbox"),
        (Behaviour::Cuts("220"), "closed the connection"),
    ] {
        let mails = MailServer::start(vec![behaviour]).await;
        let message = failure(&app, &server(mails.port)).await;
        assert!(message.contains(expected) && !message.contains(PASSWORD), "{behaviour:?}: {message}");
        assert!(mails.messages().is_empty());
    }
    let nobody = failure(&app, &server(1)).await;
    assert_eq!(nobody, "the mail server cannot be reached");
}

#[tokio::test]
async fn a_silent_server_is_given_up_after_nine_seconds() {
    let (app, mails) = (TestApp::start().await, MailServer::start(vec![Behaviour::Silent("220")]).await);
    let silent = async {
        mails.is_silent().await;
        let begun = Instant::now();
        tokio::time::advance(Duration::from_secs(8)).await;
        begun
    };
    let config = server(mails.port);
    let (message, begun) = tokio::join!(failure(&app, &config), silent);
    assert_eq!(message, "the mail server took longer than 9 seconds");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn the_placeholder_is_the_password_of_the_same_server_only() {
    let (app, mails) = (TestApp::start().await, MailServer::start(vec![Behaviour::Well]).await);
    let hidden = with(server(mails.port), json!({ "password": "********" }));
    assert_eq!(test(&app, &hidden).await.code(), "SCHEMA_ERROR", "the project has no mail server yet");
    app.configure(json!({ "config": { "email_config": with(server(mails.port), json!({ "type": "standard" })) } })).await;
    assert_eq!(test(&app, &hidden).await.json(), json!({ "success": true }));

    let elsewhere = MailServer::start(vec![Behaviour::Well]).await;
    for change in [json!({ "port": elsewhere.port }), json!({ "host": "localhost" }), json!({ "username": "eve" })] {
        let answer = test(&app, &with(hidden.clone(), change)).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{}", answer.text());
        assert!(answer.text().contains("body.email_config.password"), "{}", answer.text());
    }
    assert!(elsewhere.commands().is_empty());
    // The stored password belongs to this project, so other projects cannot use it.
    let other = app.another_project().await;
    let body = json!({ "recipient_email": "ada@example.com", "email_config": hidden });
    assert_eq!(app.admin_of(&other).post(PATH, body).await.code(), "SCHEMA_ERROR");
    assert_eq!(mails.messages().len(), 1);
}

#[tokio::test]
async fn private_addresses_and_other_ports_are_not_contacted() {
    let mails = MailServer::start(vec![Behaviour::Well]).await;
    let app = TestApp::start().await.redeployed(|settings| settings.allow_private_issuers = false);
    let no_address = "the mail server's name has no public address";
    for host in ["127.0.0.1", "127.0.0.2", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "no.such.invalid"] {
        let config = with(server(25), json!({ "host": host }));
        assert_eq!(failure(&app, &config).await, no_address, "{host}");
    }
    for port in [mails.port, 22, 80, 443, 6379] {
        let message = failure(&app, &server(port)).await;
        assert_eq!(message, "test emails are sent only to the ports 25, 465, 587, 2465, 2525, 2587", "{port}");
    }
    assert!(mails.commands().is_empty());
}

#[tokio::test]
async fn only_administrators_send_complete_and_valid_test_emails() {
    let app = TestApp::start().await;
    let body = json!({ "recipient_email": "ada@example.com", "email_config": server(1) });
    for caller in [app.client(), app.server()] {
        assert_eq!(caller.post(PATH, body.clone()).await.code(), "INSUFFICIENT_ACCESS_TYPE");
    }
    for field in ["host", "port", "username", "password", "sender_name", "sender_email"] {
        let mut config = server(1);
        config.as_object_mut().unwrap().remove(field);
        assert_eq!(test(&app, &config).await.code(), "SCHEMA_ERROR", "{field}");
    }
    for change in [
        json!({ "host": "" }),
        json!({ "host": "a b" }),
        json!({ "port": 0 }),
        json!({ "port": 70000 }),
        json!({ "sender_email": "notes" }),
        json!({ "sender_name": "a\r\nBcc: eve@example.com" }),
        json!({ "password": "a\r\nRSET" }),
        json!({ "username": "" }),
    ] {
        let answer = test(&app, &with(server(1), change.clone())).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{change}");
        assert!(answer.text().contains("body.email_config."), "{}", answer.text());
    }
}

#[tokio::test]
async fn test_emails_are_limited_by_project_address_and_recipient() {
    for (rule, limit) in
        [(Rule::TestEmail, "test-email"), (Rule::TestEmailAddress, "test-email"), (Rule::SendCodeRecipientServer, "send-code")]
    {
        let app = TestApp::start_with(Limits::off().with(rule, Some(Rate::new(2, 600)))).await;
        let mails = MailServer::start(vec![Behaviour::Well]).await;
        let all = (0..6).map(|_| async { test(&app, &server(mails.port)).await });
        let answers = futures_util::future::join_all(all).await;
        let sent = answers.iter().filter(|answer| answer.status() == 200).count();
        let refused = answers.iter().filter(|answer| answer.status() == 429).all(|answer| answer.json()["details"]["limit"] == limit);
        assert_eq!((sent, mails.messages().len(), refused), (2, 2, true), "{limit}");
    }
}
