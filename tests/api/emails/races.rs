//! Emails are updated while a worker is running. The response to an update always matches the email
//! that arrives in the inbox.

use std::cell::Cell;

use serde_json::{Value, json};
use support::until::interrupted;
use support::{Answer, SignedInUser, TestApp};

use super::{path, read, send};

/// Updates an email at each step of its worker, and runs the worker at each step of the update. In
/// each round, `check` gets the entry's id and the response to the update.
async fn race(app: &TestApp, to: &SignedInUser, patch: Value, check: impl AsyncFn(&str, &Answer)) {
    let server = app.server();
    for holds_worker in [true, false] {
        let (mut calls, mut rounds) = (0, 0);
        loop {
            let id = send(app, to, json!({ "subject": "before" })).await["id"].as_str().unwrap().to_owned();
            let (path, reached) = (path(&id), Cell::new(0));
            let is_there = || {
                reached.set(app.recorder.count());
                reached.get() >= calls
            };
            app.recorder.clear();
            app.recorder.step();
            let update = server.patch(&path, patch.clone());
            let answer = if holds_worker {
                interrupted(app.send_emails(), is_there, update).await.1
            } else {
                let (answer, worked) = interrupted(update, is_there, app.send_emails()).await;
                worked.map(|()| answer)
            };
            app.recorder.clear();
            app.send_emails().await;
            let Some(answer) = answer else { break };
            check(&id, &answer).await;
            (calls, rounds) = (reached.get() + 1, rounds + 1);
        }
        assert!(rounds > 2, "{rounds}");
    }
}

fn subjects(app: &TestApp, id: &str) -> Vec<String> {
    app.inbox.messages(None).into_iter().filter(|message| message.outbox_id == id).map(|message| message.subject).collect()
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_email_is_not_sent_and_a_sent_one_not_cancelled() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let (cancelled, sent) = (Cell::new(0), Cell::new(0));
    race(&app, &ada, json!({ "cancel": true }), async |id, answer| {
        if answer.status() == 200 {
            assert_eq!(answer.json()["status"], "skipped");
            assert_eq!((subjects(&app, id), &read(&app, id).await["status"]), (vec![], &json!("skipped")));
            cancelled.set(cancelled.get() + 1);
        } else {
            assert_eq!(answer.code(), "EMAIL_NOT_EDITABLE", "{}", answer.text());
            assert!(["SENDING", "SENT"].contains(&answer.json()["details"]["status"].as_str().unwrap()));
            assert_eq!((subjects(&app, id).len(), &read(&app, id).await["status"]), (1, &json!("sent")));
            sent.set(sent.get() + 1);
        }
    })
    .await;
    assert!(cancelled.get() > 2 && sent.get() > 2, "{cancelled:?} and {sent:?}");
}

#[tokio::test(start_paused = true)]
async fn an_acknowledged_edit_is_sent() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    race(&app, &ada, json!({ "subject_source": "after" }), async |id, answer| {
        let expected = if answer.status() == 200 { "after" } else { "before" };
        assert!(answer.status() == 200 || answer.code() == "EMAIL_NOT_EDITABLE", "{}", answer.text());
        assert_eq!(subjects(&app, id), [expected]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_paused_email_stays_unsent_until_resumed() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    race(&app, &ada, json!({ "is_paused": true }), async |id, answer| {
        if answer.status() == 200 {
            assert!(subjects(&app, id).is_empty());
            app.server().patch(&path(id), json!({ "is_paused": false })).await;
            app.send_emails().await;
        }
        assert_eq!(subjects(&app, id), ["before"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_workers_send_each_email_once() {
    let app = TestApp::start().await;
    app.server().post(super::SEND, json!({ "user_ids": app.users(40).await, "html": "<p>Hello</p>" })).await;
    tokio::join!(app.send_emails(), app.send_emails(), app.send_emails());
    app.send_emails().await;
    let mut sent: Vec<String> = app.inbox.messages(None).into_iter().map(|message| message.outbox_id).collect();
    assert_eq!(sent.len(), 40);
    sent.sort_unstable();
    sent.dedup();
    assert_eq!(sent.len(), 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_updates_with_the_same_validator_one_succeeds() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let later = app.now().as_millisecond() + super::HOUR;
    let id = send(&app, &ada, json!({ "scheduled_at_millis": later })).await["id"].as_str().unwrap().to_owned();
    for _ in 0..10 {
        let tag = app.server().get(&path(&id)).await.header("etag").unwrap().to_owned();
        let update = |subject: &str| {
            let request = app.server().request("PATCH", &path(&id)).header("if-match", &tag);
            request.json(&json!({ "subject_source": subject })).send()
        };
        let (first, second) = tokio::join!(update("first"), update("second"));
        let mut statuses = [first.status(), second.status()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 412]);
        let winner = if first.status() == 200 { "first" } else { "second" };
        assert_eq!(read(&app, &id).await["subject_source"], winner);
    }
}
