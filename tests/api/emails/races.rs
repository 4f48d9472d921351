//! Entries are updated while a worker processes them. The response always matches what arrives in
//! the inbox.

use serde_json::{Value, json};
use support::TestApp;

use super::{path, read, send};

const ROUNDS: usize = 100;

/// Sends an email and updates it while the worker delivers; returns the entry's id and the response
/// of the update.
async fn race(app: &TestApp, to: &support::SignedIn, round: usize, patch: Value) -> (String, support::Answer) {
    let id = send(app, to, json!({ "subject": "before" })).await["id"].as_str().unwrap().to_owned();
    let update = async {
        // Each round sends the update a little later, at another point of the worker's steps.
        tokio::time::sleep(std::time::Duration::from_micros(80 * round as u64)).await;
        app.server().patch(&path(&id), patch).await
    };
    let (answer, ()) = tokio::join!(update, app.deliver());
    app.deliver().await;
    (id, answer)
}

fn subjects(app: &TestApp, id: &str) -> Vec<String> {
    app.inbox.messages(None).into_iter().filter(|message| message.outbox_id == id).map(|message| message.subject).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_email_is_not_sent_and_a_sent_one_not_cancelled() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for round in 0..ROUNDS {
        let (id, answer) = race(&app, &ada, round, json!({ "cancel": true })).await;
        if answer.status() == 200 {
            assert_eq!(answer.json()["status"], "skipped");
            assert_eq!((subjects(&app, &id), &read(&app, &id).await["status"]), (vec![], &json!("skipped")), "round {round}");
        } else {
            assert_eq!(answer.code(), "EMAIL_NOT_EDITABLE", "round {round} {}", answer.text());
            assert!(["SENDING", "SENT"].contains(&answer.json()["details"]["status"].as_str().unwrap()));
            assert_eq!((subjects(&app, &id).len(), &read(&app, &id).await["status"]), (1, &json!("sent")), "round {round}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acknowledged_edit_is_sent() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for round in 0..ROUNDS {
        let (id, answer) = race(&app, &ada, round, json!({ "subject_source": "after" })).await;
        let expected = if answer.status() == 200 { "after" } else { "before" };
        assert!(answer.status() == 200 || answer.code() == "EMAIL_NOT_EDITABLE", "round {round} {}", answer.text());
        assert_eq!(subjects(&app, &id), [expected], "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_email_stays_unsent_until_resumed() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for round in 0..ROUNDS {
        let (id, answer) = race(&app, &ada, round, json!({ "is_paused": true })).await;
        if answer.status() == 200 {
            assert!(subjects(&app, &id).is_empty(), "round {round}");
            app.server().patch(&path(&id), json!({ "is_paused": false })).await;
            app.deliver().await;
        }
        assert_eq!(subjects(&app, &id), ["before"], "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_workers_send_each_email_once() {
    let app = TestApp::start().await;
    app.server().post(super::SEND, json!({ "user_ids": app.users(40).await, "html": "<p>Hello</p>" })).await;
    tokio::join!(app.deliver(), app.deliver(), app.deliver());
    app.deliver().await;
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
