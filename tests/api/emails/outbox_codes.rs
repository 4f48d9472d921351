//! Emails with codes, from the request to the recipient, and changes to the emails before they are
//! sent.

use std::pin::Pin;
use std::sync::Mutex;

use crypto::deployment_secret::DeploymentSecret;
use email::send::{Mail, Mailer};
use model::outbox::SendError;
use model::outbox::work::Outcome;
use serde_json::{Value, json};
use support::TestApp;

use super::{OUTBOX, path, read, send};

const HIDDEN: &str = "••••••";
const OLD: &str = "a deployment secret for tests alone";
const NEW: &str = "the deployment secret that comes after it";

/// Requests a sign-in code, and returns the id of its outbox entry.
async fn asked(app: &TestApp) -> String {
    let body = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x?a=1" });
    assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.status(), 200);
    app.server().get(OUTBOX).await.json()["items"][0]["id"].as_str().unwrap().to_owned()
}

async fn patch(app: &TestApp, id: &str, patch: Value) -> Value {
    let answer = app.server().patch(&path(id), patch).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

async fn sign_in(app: &TestApp, code: &str) -> u16 {
    app.client().post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await.status()
}

#[tokio::test]
async fn an_entry_shows_links_without_their_codes() {
    let app = TestApp::start().await;
    let id = asked(&app).await;
    let link = format!("http://localhost:3000/x?a=1&code={HIDDEN}");
    let variables = json!({ "link": link, "otp": HIDDEN, "email": "ada@example.com" });
    assert_eq!(read(&app, &id).await["variables"], variables);
    app.send_emails().await;
    let sent = read(&app, &id).await;
    assert_eq!((&sent["status"], &sent["variables"]), (&json!("sent"), &variables));
    assert!(sent["subject"].as_str().unwrap().ends_with(&format!("Your code is {HIDDEN}")), "{sent}");
    assert!(sent["text"].as_str().unwrap().contains(&link) && sent["html"].as_str().unwrap().contains(&link.replace('&', "&amp;")));
}

#[tokio::test]
async fn variables_written_back_unchanged_keep_their_codes() {
    let app = TestApp::start().await;
    let id = asked(&app).await;
    let mut variables = read(&app, &id).await["variables"].clone();
    variables["name"] = json!("Ada");
    let edited = patch(&app, &id, json!({ "variables": variables, "subject_source": "{{ variables.name }} {{ variables.otp }}" })).await;
    assert_eq!(edited["variables"], variables);
    let mail = app.last_mail("ada@example.com").await;
    assert_eq!(mail.0.subject, format!("Ada {}", mail.code()[..6].to_uppercase()));
    assert_eq!(sign_in(&app, &mail.code()).await, 200);
}

#[tokio::test]
async fn variables_written_by_a_server_are_shown() {
    let app = TestApp::start().await;
    let id = asked(&app).await;
    let own = json!({ "link": "https://b.example/?code=2h7bkqm4x8r1tz6w0c5vjn9pd3yfgs2a7hekb4mq8xr1t", "otp": "ABCDEF" });
    assert_eq!(patch(&app, &id, json!({ "variables": own })).await["variables"], own);
    let mail = app.last_mail("ada@example.com").await.0;
    assert!(mail.subject.ends_with("ABCDEF") && mail.text.contains("https://b.example/?code=2h7bkq"), "{mail:?}");
    assert_eq!(read(&app, &id).await["variables"], own);

    let ada = app.sign_up("bob@example.com").await;
    let fields = json!({ "variables": own, "html": "<p>{{ variables.link }} {{ variables.otp }}</p>" });
    let sent = send(&app, &ada, fields).await["id"].as_str().unwrap().to_owned();
    app.send_emails().await;
    let entry = read(&app, &sent).await;
    assert_eq!(entry["variables"], own);
    assert!(entry["html"].as_str().unwrap().contains("?code=2h7bkqm4x8r1tz6w0c5vjn9pd3yfgs2a7hekb4mq8xr1t ABCDEF"), "{entry}");
}

/// A mailer that temporarily rejects the first emails, and keeps the texts of all emails that it
/// receives.
struct UnwillingMailer {
    refusals: usize,
    texts: Mutex<Vec<String>>,
}

impl Mailer for UnwillingMailer {
    fn send<'a>(&'a self, mail: &'a Mail) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        let mut texts = self.texts.lock().unwrap();
        texts.push(mail.text.clone().unwrap_or_default());
        let failure = SendError::new(jiff::Timestamp::UNIX_EPOCH, "TEMPORARY", "not now");
        let outcome = if texts.len() > self.refusals { Outcome::Sent { is_reported_on: false } } else { Outcome::Retryable(failure) };
        Box::pin(async move { outcome })
    }
}

#[tokio::test]
async fn a_resent_email_has_the_same_code() {
    let app = TestApp::start().await;
    let id = asked(&app).await;
    let mailer = UnwillingMailer { refusals: 2, texts: Mutex::default() };
    for _ in 0..3 {
        app.send_emails_by(&mailer).await;
        app.advance(jiff::SignedDuration::from_mins(3));
    }
    assert_eq!(read(&app, &id).await["status"], "sent");
    let texts = mailer.texts.into_inner().unwrap();
    assert_eq!(texts.len(), 3);
    assert!(texts[0].contains("code=") && !texts[0].contains(HIDDEN) && texts.iter().all(|text| *text == texts[0]), "{texts:?}");
}

#[tokio::test]
async fn codes_are_lost_with_a_new_secret_unless_they_are_resealed() {
    let app = TestApp::start().await;
    let redeployed = |secret: DeploymentSecret| app.redeployed(|settings| settings.secret = secret);
    let during = redeployed(DeploymentSecret::from(NEW.to_owned()).with_previous(OLD.to_owned().into()));
    let after = redeployed(DeploymentSecret::from(NEW.to_owned()));

    let lost = asked(&app).await;
    after.send_emails().await;
    let entry = read(&app, &lost).await;
    assert_eq!(
        (&entry["status"], &entry["send_attempt_errors"][0]["external_details"]["errorType"]),
        (&json!("server-error"), &json!("REJECTED"))
    );
    assert!(entry["server_error"].as_str().unwrap().contains("cannot be decrypted with this deployment's secret"), "{entry}");
    // A deployment that has the old secret can still send the email after an edit.
    patch(&app, &lost, json!({ "subject_source": "Again {{ variables.otp }}" })).await;
    assert_eq!(sign_in(&app, &app.last_mail("ada@example.com").await.code()).await, 200);

    asked(&app).await;
    let (items, _) = app.app.store.items(None).await.unwrap();
    let mut anew = 0;
    for item in items {
        let resealed = during.app.store.reseal(&during.app.sealer, item).await.unwrap();
        assert!(resealed.lost.is_empty(), "{resealed:?}");
        anew += resealed.anew;
    }
    assert_eq!(anew, 2, "the link and the typed part are resealed");
    assert_eq!(sign_in(&after, &after.last_mail("ada@example.com").await.code()).await, 200);
}

#[tokio::test]
async fn a_template_error_does_not_reveal_the_code() {
    let app = TestApp::start().await;
    let id = asked(&app).await;
    let source = format!("{{% if variables.otp != '{HIDDEN}' %}}{{{{ variables[variables.otp].x }}}}{{% endif %}}");
    patch(&app, &id, json!({ "subject_source": source })).await;
    app.send_emails().await;
    let entry = read(&app, &id).await;
    assert_eq!(entry["status"], "server-error", "{entry}");
    let told = "the email cannot be rendered: check its template and theme";
    assert_eq!((&entry["server_error"], &entry["send_attempt_errors"][0]["internal_message"]), (&json!(told), &json!(told)));
    patch(&app, &id, json!({ "subject_source": "{{ variables.otp }}" })).await;
    assert_eq!(sign_in(&app, &app.last_mail("ada@example.com").await.code()).await, 200);
}

#[tokio::test]
async fn the_unsubscribe_link_is_shown_without_its_code() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = send(&app, &ada, json!({ "notification_category_name": "Marketing" })).await["id"].as_str().unwrap().to_owned();
    let mail = app.last_mail(&ada.email).await.0;
    let link = mail.text.split_whitespace().find(|word| word.contains("unsubscribe-link?code=")).unwrap();
    let (path, code) = link.split_once("?code=").unwrap();
    let entry = read(&app, &id).await;
    assert!(entry["text"].as_str().unwrap().contains(&format!("{path}?code={HIDDEN}")) && !entry.to_string().contains(code), "{entry}");
    assert!(!format!("{:?}", app.table()).contains(code));
}
