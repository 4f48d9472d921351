//! Mail relays in the network of the deployment, which only the operator can list.

use serde_json::{Value, json};
use settings::mail_relays::MailRelays;
use support::TestApp;
use support::mail_server::{Behaviour, MailServer};

use super::{class, email_config, outbox, send_emails};

/// A project with this server, in a deployment that forbids private addresses and lists these
/// relays. Also returns the id of the project's email.
async fn deployment(host: &str, port: u16, relays: &str, login: bool) -> (TestApp, String) {
    let mut config = email_config(host, port);
    if !login {
        (config["username"], config["password"]) = (json!(""), json!(""));
    }
    let (app, id) = outbox(config, json!({})).await;
    let relays = MailRelays::parse(relays).unwrap();
    let app = app.redeployed(|settings| {
        settings.allow_private_issuers = false;
        settings.mail_relays = relays;
    });
    (app, id)
}

async fn sent(app: &TestApp, id: &str) -> Value {
    send_emails(app).await;
    app.outbox_entry(id).await
}

#[tokio::test]
async fn a_relay_that_the_operator_lists_gets_emails_without_tls() {
    // TLS is not used even if the relay offers it, because relays seldom have a certificate for
    // their name.
    for behaviour in [Behaviour::Open, Behaviour::StartTls] {
        let server = MailServer::start(vec![behaviour]).await;
        let (app, id) = deployment("localhost", server.port, &format!("127.0.0.7:25,localhost:{}", server.port), false).await;
        let entry = sent(&app, &id).await;
        assert_eq!(entry["status"], "sent", "{behaviour:?} {entry}");
        assert_eq!((server.messages().len(), server.attempts()), (1, 1));
    }
}

#[tokio::test]
async fn a_relay_gets_no_password_without_tls() {
    let server = MailServer::start(vec![Behaviour::Well]).await;
    let (app, id) = deployment("localhost", server.port, &format!("localhost:{}", server.port), true).await;
    let entry = sent(&app, &id).await;
    assert_eq!((&entry["status"], class(&entry)), (&json!("scheduled"), "UNKNOWN"), "{entry}");
    assert_eq!(entry["send_attempt_errors"][0]["external_message"], "the mail server does not offer TLS (STARTTLS)");
    assert!(server.commands().iter().all(|command| !command.starts_with("AUTH") && !command.starts_with("MAIL")));
}

#[tokio::test]
async fn no_project_reaches_a_private_server_that_the_operator_does_not_list() {
    let server = MailServer::start(vec![Behaviour::Open]).await;
    let other = server.port ^ 1;
    for (host, relays) in [
        ("localhost", String::new()),
        ("localhost", format!("localhost:{other}")),
        ("localhost", format!("relay.internal:{}", server.port)),
        // The same address under another name.
        ("127.0.0.1", format!("localhost:{}", server.port)),
        ("localhost", format!("127.0.0.1:{}", server.port)),
    ] {
        let (app, id) = deployment(host, server.port, &relays, false).await;
        let entry = sent(&app, &id).await;
        assert_eq!(class(&entry), "HOST_NOT_FOUND", "{host} {relays} {entry}");
    }
    assert!(server.commands().is_empty());
}

#[tokio::test]
async fn a_test_email_goes_to_a_relay_and_to_no_other_private_server() {
    let server = MailServer::start(vec![Behaviour::Open]).await;
    let (app, _) = deployment("localhost", server.port, &format!("localhost:{}", server.port), false).await;
    let test = async |host: &str| {
        let config = json!({ "host": host, "port": server.port, "username": "", "password": "", "sender_name": "Notes", "sender_email": "notes@example.org" });
        let body = json!({ "recipient_email": "ada@example.com", "email_config": config });
        app.admin().post("/api/v1/internal/send-test-email", body).await.json()["success"].clone()
    };
    assert_eq!((test("localhost").await, test("127.0.0.1").await), (json!(true), json!(false)));
    let [message] = &server.messages()[..] else { panic!("{:?}", server.messages()) };
    assert!(message.contains("\r\nAuto-Submitted: auto-generated\r\n"), "{message}");
}
