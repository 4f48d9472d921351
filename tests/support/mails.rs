//! The emails of a test. The outbox worker runs only when a test calls it.

use std::cmp::Reverse;
use std::collections::HashSet;

use email::send::Mailer;
use jiff::SignedDuration;
use model::email::Email;
use model::user::User;
use serde_json::{Value, json};
use store::user::account::Outcome;

use crate::{TestApp, record, roles, secrets};

/// An email in the inbox.
#[derive(Debug, Clone)]
pub struct Mail(pub gateway::inbox::Message);

impl TestApp {
    /// Runs the outbox worker until no emails are due.
    pub async fn send_emails(&self) {
        self.send_emails_by(&self.inbox).await;
    }

    /// Sends the due emails, and advances the clock, because emails that are sent together arrive
    /// in any order.
    pub async fn send_emails_until_next_second(&self) {
        self.send_emails().await;
        self.advance(SignedDuration::from_secs(1));
    }

    /// Runs the outbox worker with this sender until no emails are due.
    pub async fn send_emails_by(&self, mailer: &impl Mailer) {
        let drained = workers::outbox::drain(&self.app, mailer, self.now() + SignedDuration::from_hours(1));
        roles::within(Some("workers-outbox"), drained).await.unwrap();
    }

    /// Requests an email to a new user, `ada@example.com`, and returns the id of the email's entry.
    /// `fields` are added to the request or replace its fields.
    pub async fn send_mail(&self, fields: Value) -> String {
        let ada = self.sign_up("ada@example.com").await;
        let mut body = json!({ "user_ids": [ada.user_id], "subject": "Grüße aus Köln", "html": "<p>Hello Ünion</p>", "theme_id": false });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        assert_eq!(self.server().post("/api/v1/emails/send-email", body).await.status(), 200);
        let list = self.server().get("/api/v1/emails/outbox").await.json();
        list["items"][0]["id"].as_str().unwrap().to_owned()
    }

    /// Creates users without passwords, `user0@example.com` and so on, and returns their ids.
    /// Writes directly to the table, because requests would take longer than most tests that need
    /// many users.
    pub async fn users(&self, count: usize) -> Vec<String> {
        let (entropy, mut users) = (&self.app.entropy, Vec::new());
        for number in 0..count {
            let mut user = User::new(entropy, self.now());
            user.add_primary_email(entropy, Email::parse(&format!("user{number}@example.com")).unwrap(), false);
            let created = self.app.store.create_account(self.project_id(), &user, Vec::new()).await.unwrap();
            assert!(matches!(created, Outcome::Done), "user{number}@example.com is taken");
            users.push(user.id.to_string());
        }
        users
    }

    /// An outbox entry as the API returns it.
    pub async fn outbox_entry(&self, id: &str) -> Value {
        self.server().get(&format!("/api/v1/emails/outbox/{id}")).await.json()
    }

    /// Sends due emails, and returns the emails to an address, newest first.
    pub async fn mails(&self, to: &str) -> Vec<Mail> {
        self.send_emails().await;
        self.sent_to(to)
    }

    /// The emails sent to an address, newest first. Emails that are sent together arrive in any
    /// order. Emails with the same time are therefore sorted by the order of their requests, which
    /// only the recorder has noted.
    pub fn sent_to(&self, to: &str) -> Vec<Mail> {
        let mut mails = self.inbox.messages(Some(to));
        let times: HashSet<i64> = mails.iter().map(|mail| mail.sent_at_millis).collect();
        assert!(self.is_observed || times.len() == mails.len(), "emails sent together have no order without a recorder: use `start`");
        mails.sort_by_key(|mail| Reverse((mail.sent_at_millis, self.recorder.created(&mail.outbox_id))));
        record::secrets(mails.iter().flat_map(|mail| secrets::from_text(&mail.text)));
        mails.into_iter().map(Mail).collect()
    }

    /// Sends due emails, and returns the newest email to an address. Notices of changes are
    /// skipped, because many tests cause notices as a side effect.
    pub async fn last_mail(&self, to: &str) -> Mail {
        let is_notice = |mail: &Mail| mail.0.subject.ends_with(" was changed");
        self.mails(to).await.into_iter().find(|mail| !is_notice(mail)).unwrap_or_else(|| panic!("no email to {to}"))
    }
}

impl Mail {
    /// The first link in the email's text.
    pub fn link(&self) -> String {
        let word = self.0.text.split_whitespace().find(|word| url::Url::parse(word).is_ok_and(|url| url.has_host()));
        word.unwrap_or_else(|| panic!("no link in {}", self.0.text)).to_owned()
    }

    /// The code in the first link of the email's text.
    pub fn code(&self) -> String {
        let link = url::Url::parse(&self.link()).unwrap();
        link.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned()
    }
}
