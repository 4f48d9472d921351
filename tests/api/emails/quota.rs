//! The number of emails that a project may send, and the order in which they are sent.

use jiff::SignedDuration;
use model::email::Email;
use model::outbox::report::Report;
use model::outbox::status::{ReportKind, Status};
use model::outbox::{OutboxEntry, Recipients};
use serde_json::{Value, json};
use support::{SignedInUser, TestApp};
use wire::id::EmailId;
use workers::reports::{self, EntryReport};

use crate::stored::change_user;

use super::{OUTBOX, SEND, attempt, entry_in, path, read, send, work};

/// A service with this hourly quota and one user.
async fn start(per_hour: u32) -> (TestApp, SignedInUser) {
    let app = TestApp::start_sending(per_hour).await;
    let ada = app.sign_up("ada@example.com").await;
    (app, ada)
}

async fn send_many(app: &TestApp, to: &SignedInUser, count: usize) {
    let body = json!({ "user_ids": [to.user_id], "subject": "x", "html": "<p>x</p>" });
    for _ in 0..count {
        assert_eq!(app.server().post(SEND, body.clone()).await.status(), 200);
    }
}

async fn count(app: &TestApp, status: &str) -> usize {
    app.server().get(&format!("{OUTBOX}?status={status}")).await.json()["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn emails_beyond_the_hourly_quota_are_queued_and_sent_gradually() {
    let (app, ada) = start(60).await;
    send_many(&app, &ada, 70).await;
    assert_eq!(app.mails(&ada.email).await.len(), 60);
    assert_eq!((count(&app, "sent").await, count(&app, "queued").await), (60, 10));
    app.advance(SignedDuration::from_secs(59));
    assert_eq!(app.mails(&ada.email).await.len(), 60);
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(app.mails(&ada.email).await.len(), 61);
    app.advance(SignedDuration::from_mins(9));
    assert_eq!((app.mails(&ada.email).await.len(), count(&app, "queued").await), (70, 0));
}

#[tokio::test]
async fn concurrent_workers_share_the_quota() {
    let (app, ada) = start(25).await;
    send_many(&app, &ada, 80).await;
    tokio::join!(app.send_emails(), app.send_emails(), app.send_emails());
    // Each worker has returned its tokens for emails that another worker has sent, so the next run
    // can use these tokens.
    app.send_emails().await;
    assert_eq!(app.mails(&ada.email).await.len(), 25);
    app.advance(SignedDuration::from_hours(1));
    tokio::join!(app.send_emails(), app.send_emails());
    assert_eq!(app.mails(&ada.email).await.len(), 50);
}

#[tokio::test]
async fn emails_are_sent_by_priority_category_and_due_time() {
    let (app, ada) = start(1).await;
    assert_eq!(app.mails(&ada.email).await.len(), 0);
    send(&app, &ada, json!({ "subject": "uses the token up" })).await;
    app.send_emails().await;
    let marketing = |fields: Value| {
        let mut all = json!({ "notification_category_name": "Marketing" });
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        all
    };
    let later = app.now().as_millisecond() + 1000;
    for fields in [
        marketing(json!({ "subject": "5 marketing" })),
        json!({ "subject": "4 transactional, due later", "scheduled_at_millis": later }),
        json!({ "subject": "3 transactional" }),
        marketing(json!({ "subject": "2 urgent marketing", "is_high_priority": true })),
        json!({ "subject": "1 urgent", "is_high_priority": true }),
    ] {
        app.advance(SignedDuration::from_millis(1));
        send(&app, &ada, fields).await;
    }
    for sent in 2..=6 {
        app.advance(SignedDuration::from_hours(1));
        assert_eq!(app.mails(&ada.email).await.len(), sent);
    }
    let subjects: Vec<String> = app.mails(&ada.email).await.into_iter().rev().map(|mail| mail.0.subject).collect();
    let order = ["1 urgent", "2 urgent marketing", "3 transactional", "4 transactional, due later", "5 marketing"];
    assert_eq!(subjects[1..], order);
}

#[tokio::test]
async fn a_project_without_quota_delays_no_other() {
    let app = TestApp::start_sending(3).await;
    // The number is more than twice the number of emails that a worker prepares and sends in one
    // step.
    let users = app.users(450).await;
    assert_eq!(app.server().post(SEND, json!({ "user_ids": users, "subject": "x", "html": "<p>x</p>" })).await.status(), 200);
    app.send_emails().await;
    let other = app.another_project().await;
    let body =
        json!({ "email": "eve@example.com", "password": "correct horse battery", "verification_callback_url": "http://localhost:3000/v" });
    assert_eq!(app.client_of(&other).post("/api/v1/auth/password/sign-up", body).await.status(), 200);
    assert_eq!(app.mails("eve@example.com").await.len(), 1);
    assert_eq!(app.inbox.messages(None).len(), 1 + 3);
}

#[tokio::test]
async fn an_email_waiting_for_quota_can_be_cancelled_and_edited() {
    let (app, ada) = start(1).await;
    send(&app, &ada, json!({})).await;
    app.send_emails().await;
    let [cancelled, edited] = [(); 2].map(|()| send(&app, &ada, json!({ "subject": "before" })));
    let (cancelled, edited) = (cancelled.await["id"].as_str().unwrap().to_owned(), edited.await["id"].as_str().unwrap().to_owned());
    app.send_emails().await;
    assert_eq!(count(&app, "queued").await, 2);
    assert_eq!(app.server().patch(&path(&cancelled), json!({ "cancel": true })).await.status(), 200);
    assert_eq!(app.server().patch(&path(&edited), json!({ "subject_source": "after" })).await.status(), 200);
    app.advance(SignedDuration::from_hours(3));
    let subjects: Vec<String> = app.mails(&ada.email).await.into_iter().map(|mail| mail.0.subject).collect();
    assert_eq!(subjects, ["after", "Greetings"]);
}

#[tokio::test]
async fn the_reported_rate_is_the_effective_one() {
    let (app, ada) = start(120).await;
    let rate = app.server().get("/api/v1/emails/delivery-info").await.json()["capacity"]["rate_per_second"].as_f64().unwrap();
    assert!((rate * 3600.0 - 120.0).abs() < 1e-6, "{rate}");
    // A complaint slows the project to a quarter of the base rate.
    let id = entry_in(&app, &ada, Status::Sent).await;
    let entry = EmailId::parse(&id).unwrap();
    let row = app.app.store.outbox_entry(app.project_id(), entry).await.unwrap().unwrap();
    let report = Report { attempt: attempt(&row.entry), kind: ReportKind::MarkedAsSpam, at: app.now().as_millisecond() };
    assert!(reports::take(&app.app, &EntryReport { project: app.project_id().clone(), entry, report }).await.unwrap());
    app.advance(SignedDuration::from_mins(2));
    send_many(&app, &ada, 90).await;
    let told = app.server().get("/api/v1/emails/delivery-info").await.json()["capacity"]["rate_per_second"].as_f64().unwrap();
    assert!((told * 3600.0 - 30.0).abs() < 1e-6, "{told}");
    assert_eq!(app.mails(&ada.email).await.len() - 1, 30);
}

/// Requests a sign-in code for an unverified address.
async fn ask_for_a_stranger(app: &TestApp, number: usize) {
    let body = json!({ "email": format!("stranger{number}@example.com"), "callback_url": "http://localhost:3000/sign-in" });
    assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.status(), 200);
}

/// The number of emails received by the first `asked` strangers.
async fn strangers(app: &TestApp, asked: usize) -> usize {
    app.send_emails().await;
    (0..asked).map(|number| app.sent_to(&format!("stranger{number}@example.com")).len()).sum()
}

#[tokio::test]
async fn a_flood_of_codes_to_strangers_delays_no_known_recipient() {
    let app = TestApp::start_sending(100).await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    for number in 0..60 {
        ask_for_a_stranger(&app, number).await;
    }
    app.send_emails().await;
    let at_once = strangers(&app, 60).await;
    assert!((20..=25).contains(&at_once), "{at_once}: a quarter of the hourly quota, less ada's emails before her verification");
    // A verified address gets its code immediately, although strangers have been waiting for
    // longer.
    let reset = json!({ "email": ada.email, "callback_url": "http://localhost:3000/reset" });
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", reset).await.status(), 200);
    let before = app.mails(&ada.email).await.len();
    assert!(app.last_mail(&ada.email).await.0.text.contains("http://localhost:3000/reset"));
    // The project's servers can also send immediately, up to the project's hourly quota.
    send_many(&app, &ada, 60).await;
    assert_eq!(app.mails(&ada.email).await.len() - before, 60);
    assert_eq!(strangers(&app, 60).await, at_once);
}

/// Signs up a user, and then sends so many wrong passwords that the account is closed to passwords.
/// The service notifies the user by email that the account is closed to passwords.
async fn close_password(app: &TestApp, email: &str, is_verified: bool) {
    let user = app.sign_up(email).await;
    if is_verified {
        let path = format!("/api/v1/users/{}", user.user_id);
        assert_eq!(app.server().patch(&path, json!({ "primary_email_verified": true })).await.status(), 200);
    }
    change_user(app, &user, |user| user.wrong_passwords = 99).await;
    let body = json!({ "email": email, "password": "wrong horse battery" });
    assert_eq!(app.client().post("/api/v1/auth/password/sign-in", body).await.status(), 400);
}

#[tokio::test]
async fn notices_without_codes_to_unverified_addresses_use_the_share_of_strangers() {
    let app = TestApp::start_sending(4).await;
    for number in 0..3 {
        close_password(&app, &format!("stranger{number}@example.com"), false).await;
    }
    close_password(&app, "known@example.com", true).await;
    app.send_emails().await;
    assert_eq!(strangers(&app, 3).await, 1, "a quarter of the hourly quota");
    assert_eq!(app.mails("known@example.com").await.len(), 1);
    // An edited notice still counts as an email of the service.
    let queued = app.server().get(&format!("{OUTBOX}?status=queued")).await.json();
    let queued: Vec<&str> = queued["items"].as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    assert_eq!(queued.len(), 2);
    for id in queued {
        assert_eq!(app.server().patch(&path(id), json!({ "subject_source": "Edited", "html_source": "<p>x</p>" })).await.status(), 200);
    }
    app.send_emails().await;
    assert_eq!((strangers(&app, 3).await, count(&app, "queued").await), (1, 2));
    app.advance(SignedDuration::from_mins(30));
    assert_eq!(strangers(&app, 3).await, 2);
    // Emails that a server sends to an unverified user use the whole quota.
    let (app, ada) = start(4).await;
    send_many(&app, &ada, 5).await;
    assert_eq!(app.mails(&ada.email).await.len(), 4);
}

#[tokio::test]
async fn a_queued_email_with_an_expired_code_is_dropped_without_using_quota() {
    let app = TestApp::start_sending(4).await;
    for number in 0..6 {
        ask_for_a_stranger(&app, number).await;
    }
    app.send_emails().await;
    assert_eq!(strangers(&app, 6).await, 1);
    // Sign-in codes are valid for ten minutes. The quota for strangers grows by only one email
    // every half hour.
    app.advance(SignedDuration::from_mins(31));
    ask_for_a_stranger(&app, 6).await;
    app.send_emails().await;
    assert_eq!(app.mails("stranger6@example.com").await.len(), 1);
    assert_eq!(strangers(&app, 6).await, 1);
    let skipped = app.server().get(&format!("{OUTBOX}?status=skipped")).await.json();
    let reasons: Vec<&Value> = skipped["items"].as_array().unwrap().iter().map(|entry| &entry["skipped_reason"]).collect();
    assert_eq!(reasons, [&json!("CODE_EXPIRED"); 5]);
    assert_eq!(count(&app, "queued").await, 0);
}

/// Sends an email to this many addresses by editing its recipients, and returns the email's id.
async fn send_to_addresses(app: &TestApp, to: &SignedInUser, count: usize) -> String {
    let id = send(app, to, json!({})).await["id"].as_str().unwrap().to_owned();
    let emails: Vec<String> = (0..count).map(|number| format!("address{number}@example.com")).collect();
    let to = json!({ "to": { "type": "custom-emails", "emails": emails } });
    assert_eq!(app.server().patch(&path(&id), to).await.status(), 200);
    id
}

#[tokio::test]
async fn an_email_takes_the_quota_of_all_its_recipients() {
    let (app, ada) = start(60).await;
    for _ in 0..3 {
        send_to_addresses(&app, &ada, 50).await;
    }
    app.send_emails().await;
    // After the second email, the project has a deficit of forty tokens.
    assert_eq!((count(&app, "sent").await, count(&app, "queued").await), (2, 1));
    app.advance(SignedDuration::from_mins(40));
    app.send_emails().await;
    assert_eq!(count(&app, "queued").await, 1);
    app.advance(SignedDuration::from_mins(2));
    app.send_emails().await;
    assert_eq!(count(&app, "queued").await, 0);
    // Each recipient costs a token, so no tokens are returned for the last email.
    app.advance(SignedDuration::from_hours(2));
    for _ in 0..2 {
        send_to_addresses(&app, &ada, 25).await;
    }
    app.advance(SignedDuration::from_millis(1));
    send_many(&app, &ada, 11).await;
    app.send_emails().await;
    assert_eq!((count(&app, "sent").await, count(&app, "queued").await), (3 + 2 + 10, 1));
}

#[tokio::test]
async fn an_email_with_more_recipients_than_the_quota_is_sent_and_delays_the_next() {
    let (app, ada) = start(4).await;
    let id = send_to_addresses(&app, &ada, 50).await;
    app.send_emails().await;
    assert_eq!(read(&app, &id).await["status"], "sent");
    send_many(&app, &ada, 1).await;
    app.advance(SignedDuration::from_mins(46 * 15));
    app.send_emails().await;
    assert_eq!(count(&app, "queued").await, 1);
    app.advance(SignedDuration::from_mins(16));
    app.send_emails().await;
    assert_eq!(count(&app, "queued").await, 0);
}

#[tokio::test]
async fn a_stored_email_to_too_many_addresses_fails() {
    let (app, ada) = start(4).await;
    let id = send(&app, &ada, json!({})).await["id"].as_str().unwrap().to_owned();
    // An earlier version did not limit the number of addresses.
    let emails = (0..51).map(|number| Email::parse(&format!("address{number}@example.com")).unwrap()).collect();
    work(&app, &id, |entry| Some(OutboxEntry { to: Recipients::CustomEmails { emails }, ..entry })).await;
    app.send_emails().await;
    let entry = read(&app, &id).await;
    assert_eq!((&entry["status"], app.inbox.messages(None).len()), (&json!("server-error"), 0), "{entry}");
    assert!(entry.to_string().contains("at most 50 addresses"), "{entry}");
    send_many(&app, &ada, 3).await;
    app.send_emails().await;
    assert_eq!(count(&app, "sent").await, 3);
}
