//! Emails from the request to the inbox.

use std::pin::Pin;
use std::sync::Mutex;

use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use email::send::{Mail, Mailer};
use jiff::SignedDuration;
use model::outbox::SendError;
use model::outbox::status::Status;
use model::outbox::work::Outcome;
use serde_json::{Value, json};
use support::TestApp;

use crate::emails::{entry_in, path, read, send};

/// A mailer that temporarily rejects the first emails, and records all emails that it receives.
#[derive(Default)]
struct UnwillingMailer {
    refusals: usize,
    seen: Mutex<Vec<String>>,
}

impl Mailer for UnwillingMailer {
    fn send<'a>(&'a self, mail: &'a Mail) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        let mut seen = self.seen.lock().unwrap();
        seen.push(mail.id.to_string());
        let failure = SendError::new(jiff::Timestamp::UNIX_EPOCH, "TEMPORARY", "not now");
        let outcome = if seen.len() > self.refusals { Outcome::Sent { is_reported_on: true } } else { Outcome::Retryable(failure) };
        Box::pin(async move { outcome })
    }
}

/// Runs the worker with this mailer now, and again whenever a retry is due.
async fn send_emails(app: &TestApp, mailer: &UnwillingMailer, id: &str) {
    for _ in 0..10 {
        app.send_emails_by(mailer).await;
        let Some(retry) = read(app, id).await["next_send_retry_at_millis"].as_i64() else { return };
        app.advance(SignedDuration::from_millis(retry - app.now().as_millisecond()));
    }
}

#[tokio::test]
async fn a_sign_in_email_has_a_link_and_a_code_to_type() {
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/magic?code=old&x=1#top" });
    let nonce = app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.json()["nonce"].as_str().unwrap().to_owned();
    let mail = app.last_mail("ada@example.com").await;

    let typed = mail.0.subject.strip_prefix("Sign in to Development: Your code is ").unwrap();
    assert!(typed.len() == 6 && typed.chars().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase()), "{typed}");
    assert_eq!(mail.code(), format!("{}{nonce}", typed.to_lowercase()));
    assert_eq!(mail.link(), format!("http://localhost:3000/magic?x=1&code={}#top", mail.code()));
    assert!(mail.0.html.contains(&format!(">{typed}</p>")), "{}", mail.0.html);
    assert!(mail.0.html.contains(&mail.link().replace('&', "&amp;")) && mail.0.text.contains(typed), "{}", mail.0.html);
    assert_eq!((mail.0.from.as_str(), mail.0.to), ("\"Development\" <noreply@example.com>", vec!["ada@example.com".to_owned()]));

    // A code consists of the part that a user types and the nonce that the app has stored.
    let answer = app.client().post("/api/v1/auth/otp/sign-in", json!({ "code": format!("{typed}{nonce}") })).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
}

#[tokio::test]
async fn a_verification_email_has_a_link() {
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery", "verification_callback_url": "http://localhost:3000/verify" });
    app.client().post("/api/v1/auth/password/sign-up", body).await;
    let mail = app.last_mail("ada@example.com").await;
    assert_eq!(mail.0.subject, "Verify your email at Development");
    assert_eq!(mail.link(), format!("http://localhost:3000/verify?code={}", mail.code()));
    assert_eq!(mail.code().len(), 45);
    assert!(mail.0.html.contains(&format!("href=\"{}\"", mail.link())));
    assert!(!mail.0.html.contains("fonts.googleapis.com"), "opening an email loads nothing from third parties");
}

#[tokio::test]
async fn a_sign_up_without_a_verification_page_sends_nothing() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    assert!(app.mails("ada@example.com").await.is_empty());
}

#[tokio::test]
async fn emails_of_a_project_have_its_own_sender() {
    let app = TestApp::start().await;
    let sender = json!({ "type": "standard", "sender_name": "Ada's Notes", "sender_email": "Notes@Example.org" });
    app.configure(json!({ "config": { "email_config": sender } })).await;
    app.sign_in_code("ada@example.com").await;
    assert_eq!(app.last_mail("ada@example.com").await.0.from, "\"Ada's Notes\" <notes@example.org>");
    app.configure(json!({ "config": { "email_config": { "type": "shared" } } })).await;
    app.advance(SignedDuration::from_secs(1));
    app.sign_in_code("ada@example.com").await;
    assert_eq!(app.last_mail("ada@example.com").await.0.from, "\"Development\" <noreply@example.com>");
}

#[tokio::test]
async fn a_name_cannot_inject_headers_or_html() {
    let app = TestApp::start().await;
    let name = "A\" <evil@example.com>, \\<b>{{ 7 * 7 }}</b> & Söhne gatelet-content-slot";
    app.configure(json!({ "display_name": name })).await;
    app.sign_in_code("ada@example.com").await;
    let mail = app.last_mail("ada@example.com").await.0;
    assert_eq!(mail.from, "\"A <evil@example.com>, <b>{{ 7 * 7 }}</b> & Söhne gatelet-content-slot\" <noreply@example.com>");
    assert!(mail.subject.starts_with(&format!("Sign in to {name}: ")) && mail.text.contains(name));
    assert!(!mail.html.contains("<b>{{") && !mail.html.contains("<evil@"), "{}", mail.html);
    assert_eq!(mail.html.matches("class=\"code\"").count(), 1);
    assert!(mail.html.find("gatelet-content-slot").unwrap() < mail.html.find("class=\"code\"").unwrap(), "the body comes first");
}

#[tokio::test]
async fn a_value_with_line_breaks_cannot_inject_headers() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = entry_in(&app, &ada, Status::Preparing).await;
    let patch =
        json!({ "subject_source": "Hello {{ variables.name }}", "variables": { "name": "x\r\nBcc: eve@example.com\u{0}\u{7f}\u{1b}[0m" } });
    assert_eq!(app.server().patch(&path(&id), patch).await.status(), 200);
    let subject = app.last_mail(&ada.email).await.0.subject;
    assert!(subject.starts_with("Hello x Bcc: eve@example.com") && !subject.chars().any(char::is_control), "{subject:?}");
}

#[tokio::test]
async fn an_email_whose_worker_died_while_sending_fails_and_is_not_resent() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = entry_in(&app, &ada, Status::Sending).await;
    app.advance(SignedDuration::from_mins(20) - SignedDuration::from_millis(1));
    app.send_emails().await;
    assert_eq!(read(&app, &id).await["status"], "sending");

    app.advance(SignedDuration::from_millis(1));
    app.send_emails().await;
    let entry = read(&app, &id).await;
    assert_eq!(
        (&entry["status"], &entry["send_attempt_errors"][0]["external_details"]),
        (&json!("server-error"), &json!({ "errorType": "UNKNOWN" }))
    );
    app.advance(SignedDuration::from_hours(48));
    assert!(app.mails(&ada.email).await.is_empty());
    // An operator sends the email after its failure.
    assert_eq!(app.server().patch(&path(&id), json!({ "subject_source": "Again" })).await.json()["status"], "preparing");
    assert_eq!(app.mails(&ada.email).await.len(), 1);
}

#[tokio::test]
async fn rendering_is_retried_after_a_worker_died() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    entry_in(&app, &ada, Status::Rendering).await;
    app.advance(SignedDuration::from_secs(59));
    assert!(app.mails(&ada.email).await.is_empty());
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(app.mails(&ada.email).await.len(), 1);
}

#[tokio::test]
async fn a_temporarily_rejected_email_is_sent_later() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = send(&app, &ada, json!({})).await["id"].as_str().unwrap().to_owned();
    let mailer = UnwillingMailer { refusals: 4, ..UnwillingMailer::default() };
    app.send_emails_by(&mailer).await;
    let waiting = read(&app, &id).await;
    assert_eq!(
        (&waiting["status"], &waiting["simple_status"], &waiting["send_retries"]),
        (&json!("scheduled"), &json!("in-progress"), &json!(1))
    );
    let wait = waiting["next_send_retry_at_millis"].as_i64().unwrap() - app.now().as_millisecond();
    assert!((20_000..=60_000).contains(&wait), "{wait}");

    send_emails(&app, &mailer, &id).await;
    assert_eq!(read(&app, &id).await["status"], "sent");
    assert_eq!(mailer.seen.lock().unwrap().len(), 5);
}

#[tokio::test]
async fn an_email_rejected_five_times_fails() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = send(&app, &ada, json!({})).await["id"].as_str().unwrap().to_owned();
    let mailer = UnwillingMailer { refusals: 100, ..UnwillingMailer::default() };
    send_emails(&app, &mailer, &id).await;
    app.advance(SignedDuration::from_hours(48));
    send_emails(&app, &mailer, &id).await;
    let entry = read(&app, &id).await;
    assert_eq!((mailer.seen.lock().unwrap().len(), &entry["status"]), (5, &json!("server-error")));
    assert_eq!((&entry["server_error"], entry["send_attempt_errors"].as_array().unwrap().len()), (&json!("not now"), 5));
    assert_eq!(entry["next_send_retry_at_millis"], Value::Null);
}

// The clock is paused, so the waits between attempts take no time.
#[tokio::test(start_paused = true)]
async fn transient_table_failures_neither_lose_nor_duplicate_emails() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    // An email causes four writes, one for each of the states rendering, rendered, sending and
    // sent.
    for write in 0..4 {
        let id = send(&app, &ada, json!({})).await["id"].as_str().unwrap().to_owned();
        app.recorder.fail_write(write, "InternalServerError");
        app.send_emails().await;
        app.advance(SignedDuration::from_mins(2));
        app.send_emails().await;
        assert_eq!(read(&app, &id).await["status"], "sent", "write {write}");
        assert_eq!(app.inbox.messages(None).iter().filter(|mail| mail.outbox_id == id).count(), 1, "write {write}");
    }
}

#[tokio::test]
async fn an_unreadable_entry_delays_no_other_email() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = send(&app, &ada, json!({})).await["id"].as_str().unwrap().to_owned();
    let store = &app.app.store;
    let attribute = |text: String| aws_sdk_dynamodb::types::AttributeValue::S(text);
    let damage = UpdateItemInput::builder().table_name(store.table()).update_expression("SET d = :d");
    let damage = damage.key("pk", attribute(format!("M#{}#{id}", app.project_id()))).key("sk", attribute("ENTRY".to_owned()));
    store.client().call(damage.expression_attribute_values(":d", attribute("nonsense".to_owned()))).await.unwrap();

    app.sign_in_code("bob@example.com").await;
    assert_eq!(app.server().get(&path(&id)).await.code(), "INTERNAL_ERROR");
}

#[tokio::test]
async fn the_oldest_due_email_is_reported_until_sent() {
    let app = TestApp::start().await;
    let oldest = async || app.app.store.oldest_due(app.now()).await.unwrap();
    assert_eq!(oldest().await, None);
    let asked = app.now();
    let body = serde_json::json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x" });
    assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.status(), 200);
    app.advance(jiff::SignedDuration::from_mins(9));
    assert_eq!(oldest().await, Some(asked));
    assert_eq!(app.mails("ada@example.com").await.len(), 1);
    assert_eq!(oldest().await, None);
}
