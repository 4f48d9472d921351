//! A slow mail server delays only the emails of its project.

use std::time::Duration;

use email::smtp::{ProjectMailer, Smtp};
use gateway::keys::Keys;
use rustls::RootCertStore;
use serde_json::json;
use support::TestApp;
use support::mail_server::{Behaviour, MailServer};
use wire::clock::Clock;

use super::{TIMEOUT, email_config, outbox};

fn mailer(app: &TestApp, timeout: Duration) -> ProjectMailer<gateway::inbox::Inbox> {
    let own = Smtp::new(&app.app.settings, RootCertStore::empty(), timeout, Clock::system());
    ProjectMailer { own, deployments: app.inbox.clone() }
}

async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn sign_up(app: &TestApp, project: &Keys, email: &str) {
    let body = json!({ "email": email, "password": "correct horse battery", "verification_callback_url": "http://localhost:3000/v" });
    assert_eq!(app.client_of(project).post("/api/v1/auth/password/sign-up", body).await.status(), 200);
}

#[tokio::test]
async fn a_server_that_withholds_its_answer_delays_no_other_project() {
    let (slow, quick) = (MailServer::start(vec![Behaviour::Waits(".")]).await, MailServer::start(vec![Behaviour::Well]).await);
    let (app, id) = outbox(email_config("127.0.0.1", slow.port), json!({})).await;
    let mailer = mailer(&app, Duration::from_secs(20));
    let (without_server, with_server) = (app.another_project().await, app.another_project().await);
    let change = json!({ "config": { "email_config": email_config("127.0.0.1", quick.port) } });
    assert_eq!(app.admin_of(&with_server).patch("/api/v1/internal/projects/current", change).await.status(), 200);
    let others = async {
        until(|| slow.messages().len() == 1).await;
        sign_up(&app, &without_server, "bob@example.com").await;
        sign_up(&app, &with_server, "eve@example.com").await;
        until(|| app.inbox.messages(Some("bob@example.com")).len() == 1 && quick.messages().len() == 1).await;
        assert_eq!(app.outbox_entry(&id).await["status"], "sending", "the slow server still has not answered");
        slow.go_on();
    };
    tokio::join!(app.send_emails_by(&mailer), others);
    assert_eq!(app.outbox_entry(&id).await["status"], "sent");
}

#[tokio::test]
async fn a_server_gets_no_more_emails_at_a_time_than_connections() {
    let slow = MailServer::start(vec![Behaviour::Waits(".")]).await;
    let (app, _) = outbox(email_config("127.0.0.1", slow.port), json!({})).await;
    let body = json!({ "user_ids": app.users(11).await, "subject": "x", "html": "<p>x</p>" });
    assert_eq!(app.server().post("/api/v1/emails/send-email", body).await.status(), 200);
    let count = async |status: &str| {
        app.server().get(&format!("/api/v1/emails/outbox?status={status}")).await.json()["items"].as_array().unwrap().len()
    };
    let mailer = mailer(&app, Duration::from_secs(20));
    let check = async {
        until(|| slow.messages().len() == 5).await;
        assert_eq!((count("sending").await, count("queued").await), (5, 7), "the others stay in the queue");
        slow.go_on();
    };
    tokio::join!(app.send_emails_by(&mailer), check);
    assert_eq!((count("sent").await, slow.messages().len()), (12, 12));
}

#[tokio::test]
async fn a_server_that_does_not_confirm_an_email_in_time_is_paused() {
    let server = MailServer::start(vec![Behaviour::Silent("."), Behaviour::Well]).await;
    let (app, first) = outbox(email_config("127.0.0.1", server.port), json!({})).await;
    let mailer = mailer(&app, TIMEOUT);
    app.send_emails_by(&mailer).await;
    assert_eq!(app.outbox_entry(&first).await["status"], "server-error");
    let bob = app.sign_up("bob@example.com").await;
    let body = json!({ "user_ids": [bob.user_id], "subject": "x", "html": "<p>x</p>" });
    assert_eq!(app.server().post("/api/v1/emails/send-email", body).await.status(), 200);
    app.send_emails_by(&mailer).await;
    let waiting = app.server().get("/api/v1/emails/outbox?status=scheduled").await.json();
    assert_eq!(waiting["items"][0]["send_attempt_errors"][0]["external_details"]["errorType"], "TEMPORARY", "{waiting}");
    assert_eq!(server.attempts(), 1);
}
