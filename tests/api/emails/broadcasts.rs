//! Emails to more users than a transaction can contain.

use serde_json::{Value, json};
use support::{InjectedError, TestApp};

use super::{OUTBOX, SEND};

/// More than the 100 writes that a transaction can contain.
const MANY: usize = 130;

/// Creates users without passwords, and returns their ids and addresses.
async fn users(app: &TestApp, count: usize) -> Vec<(String, String)> {
    let ids = app.users(count).await.into_iter().enumerate();
    ids.map(|(number, id)| (id, format!("user{number}@example.com"))).collect()
}

async fn entries(app: &TestApp) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let mut page = app.server().get(&format!("{OUTBOX}?{cursor}")).await.json();
        all.append(page["items"].as_array_mut().unwrap());
        match page["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("cursor={next}"),
            None => return all,
        }
    }
}

/// Asserts that every user has one email and one matching entry.
async fn assert_each_has_one(app: &TestApp, users: &[(String, String)]) {
    app.send_emails().await;
    for (_, email) in users {
        assert_eq!(app.sent_to(email).len(), 1, "{email}");
    }
    let entries = entries(app).await;
    assert_eq!(entries.len(), users.len());
    assert!(entries.iter().all(|entry| entry["status"] == "sent"));
    assert!(app.app.store.due_work(app.now(), 10).await.unwrap().is_empty(), "the broadcast is finished");
}

#[tokio::test]
async fn an_email_to_many_is_answered_in_order_and_reaches_each_once() {
    let app = TestApp::start().await;
    let users = users(&app, MANY).await;
    let ids: Vec<&String> = users.iter().rev().map(|(id, _)| id).collect();
    let answer = app.server().post(SEND, json!({ "user_ids": ids, "subject": "Hi", "html": "<p>x</p>" })).await;
    let results: Vec<Value> = ids.iter().map(|id| json!({ "user_id": id })).collect();
    assert_eq!((answer.status(), answer.json()), (200, json!({ "results": results })));
    app.send_emails().await;
    assert_each_has_one(&app, &users).await;
}

#[tokio::test]
async fn an_email_to_all_users_is_accepted_atomically() {
    let app = TestApp::start().await;
    let users = users(&app, MANY).await;
    let body = json!({ "all_users": true, "subject": "Hi", "html": "<p>x</p>" });
    app.recorder.clear();
    app.recorder.fail_write(0, "AccessDeniedException");
    assert_eq!(app.server().post(SEND, body.clone()).await.status(), 500);
    app.send_emails().await;
    assert!(entries(&app).await.is_empty());

    app.recorder.clear();
    assert_eq!(app.server().post(SEND, body).await.json()["results"].as_array().unwrap().len(), MANY);
    assert_eq!(app.recorder.writes().len(), 1);
    app.send_emails().await;
    assert_each_has_one(&app, &users).await;
}

// The clock is paused, so the waits between attempts take no time.
#[tokio::test(start_paused = true)]
async fn a_broadcast_resumes_after_any_failure_without_gaps_or_repeats() {
    for fault in [InjectedError::NotMade, InjectedError::AnswerLost] {
        let app = TestApp::start().await;
        let users = users(&app, MANY).await;
        app.server().post(SEND, json!({ "all_users": true, "subject": "Hi", "html": "<p>x</p>" })).await;
        for after in [0, 1, 5, 20, 100] {
            app.recorder.break_writes(after, 60, fault.clone());
            app.send_emails().await;
        }
        app.recorder.clear();
        app.advance(jiff::SignedDuration::from_mins(2));
        app.send_emails().await;
        let all = entries(&app).await;
        assert_eq!(all.len(), users.len());
        let of_users: std::collections::BTreeSet<&str> = all.iter().map(|entry| entry["to"]["user_id"].as_str().unwrap()).collect();
        assert_eq!(of_users.len(), users.len());
        for (_, email) in &users {
            assert!(app.sent_to(email).len() <= 1, "{email}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_workers_create_one_entry_per_recipient() {
    let app = TestApp::start().await;
    let users = users(&app, MANY).await;
    app.server().post(SEND, json!({ "all_users": true, "subject": "Hi", "html": "<p>x</p>" })).await;
    tokio::join!(app.send_emails(), app.send_emails(), app.send_emails());
    app.send_emails().await;
    assert_each_has_one(&app, &users).await;
}

#[tokio::test]
async fn a_failed_email_does_not_hold_up_the_others() {
    let app = TestApp::start().await;
    let users = users(&app, 60).await;
    let html =
        "<p>Hello {{ user.primary_email if user }}{% if user and user.primary_email == 'user30@example.com' %}{{ nothing }}{% endif %}</p>";
    let answer =
        app.server().post(SEND, json!({ "all_users": true, "subject": "Hi {{ user.primary_email if user }}", "html": html })).await;
    assert_eq!(answer.status(), 200);
    let (gone, _) = &users[31];
    assert_eq!(app.server().delete(&format!("/api/v1/users/{gone}")).await.status(), 200);
    app.send_emails().await;
    for entry in entries(&app).await {
        let to = entry["to"]["user_id"].as_str().unwrap();
        let (_, email) = users.iter().find(|(id, _)| id == to).unwrap();
        let mails = app.sent_to(email);
        match email.as_str() {
            "user30@example.com" => assert!(entry["status"] == "render-error" && mails.is_empty(), "{entry}"),
            "user31@example.com" => assert!(entry["skipped_reason"] == "USER_ACCOUNT_DELETED" && mails.is_empty(), "{entry}"),
            _ => {
                assert_eq!((&entry["status"], mails.len()), (&json!("sent"), 1), "{entry}");
                assert!(mails[0].0.html.contains(&format!("Hello {email}<")) && mails[0].0.subject == format!("Hi {email}"));
            }
        }
    }
    let counted = app.server().get("/api/v1/emails/delivery-info").await.json();
    assert_eq!(counted["stats"]["hour"]["sent"], 58);
}
