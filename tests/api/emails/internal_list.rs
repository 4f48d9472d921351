//! `GET /api/v1/internal/emails`.

use std::collections::BTreeSet;

use model::outbox::status::Status;
use serde_json::{Value, json};
use support::TestApp;

use super::{HOUR, entry_in, send};

const PATH: &str = "/api/v1/internal/emails";

async fn listed(app: &TestApp) -> Vec<Value> {
    let answer = app.admin().get(PATH).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert_eq!(answer.json()["is_paginated"], false);
    answer.json()["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn the_newest_emails_are_listed_with_their_addresses() {
    let app = TestApp::start().await;
    assert_eq!(listed(&app).await, Vec::<Value>::new());
    let ada = app.sign_up("ada@example.com").await;
    let waiting = send(&app, &ada, json!({ "scheduled_at_millis": app.now().as_millisecond() + HOUR })).await;
    let sent_at = app.now().as_millisecond();
    assert_eq!(
        listed(&app).await,
        [json!({ "id": waiting["id"], "subject": "", "sent_at_millis": sent_at, "to": ["ada@example.com"], "error": null })]
    );
    let sent = entry_in(&app, &ada, Status::Sent).await;
    let failed = entry_in(&app, &ada, Status::RenderError).await;
    let all = listed(&app).await;
    let find = |id: &str| all.iter().find(|email| email["id"] == *id).unwrap();
    assert_eq!((&find(&sent)["subject"], &find(&sent)["error"]), (&json!("Greetings"), &Value::Null));
    assert!(find(&failed)["error"].as_str().unwrap().contains("nobody"), "{}", find(&failed));
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", ada.user_id)).await.status(), 200);
    assert!(listed(&app).await.iter().any(|email| email["id"] == sent.as_str() && email["to"] == json!([])));
}

#[tokio::test]
async fn the_list_has_no_codes_and_at_most_a_hundred_emails() {
    let app = TestApp::start().await;
    let template = "/api/v1/internal/email-templates/822687fe-8d0a-4467-a0d1-416b6e639478";
    assert_eq!(app.admin().patch(template, json!({ "subject_source": "Your code is {{ variables.otp }}" })).await.status(), 200);
    let body = json!({ "email": "bob@example.com", "callback_url": "http://localhost:3000/x" });
    assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.status(), 200);
    app.send_emails().await;
    let newest = listed(&app).await[0].clone();
    assert_eq!((&newest["subject"], &newest["to"]), (&json!("Your code is ••••••"), &json!(["bob@example.com"])));
    let users = app.users(40).await;
    for _ in 0..3 {
        let many = json!({ "user_ids": users, "html": "x" });
        assert_eq!(app.server().post(super::SEND, many).await.status(), 200);
    }
    assert_eq!(listed(&app).await.len(), 100);
}

#[tokio::test]
async fn a_hundred_large_emails_are_all_listed() {
    let app = TestApp::start().await;
    // An email to more users would start as a broadcast.
    for users in app.users(100).await.chunks(20) {
        let body = json!({ "user_ids": users, "subject": "Large", "html": "<p>large</p>".repeat(8_000) });
        assert_eq!(app.server().post(super::SEND, body).await.status(), 200);
    }
    let all = listed(&app).await;
    let recipients: BTreeSet<&str> = all.iter().map(|email| email["to"][0].as_str().unwrap()).collect();
    assert_eq!((all.len(), recipients.len()), (100, 100));
    // The figures of the dashboard cover the same emails.
    let metrics = app.admin().get("/api/v1/internal/metrics").await.json();
    assert_eq!(metrics["email_overview"]["emails_by_status"], json!({ "preparing": 100 }), "{metrics}");
}

#[tokio::test]
async fn only_administrators_read_the_list() {
    let app = TestApp::start().await;
    for caller in [app.client(), app.server()] {
        let refused = caller.get(PATH).await;
        assert_eq!((refused.status(), refused.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
    }
    assert_eq!(app.admin().get(&format!("{PATH}?nonsense=1")).await.code(), "SCHEMA_ERROR");
}
