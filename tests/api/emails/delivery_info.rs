//! `GET /api/v1/emails/delivery-info`.

use jiff::SignedDuration;
use model::outbox::report::Report;
use model::outbox::status::ReportKind;
use serde_json::{Value, json};
use store::outbox::transition::OutboxMove;
use support::TestApp;
use workers::reports::EntryReport;

const PATH: &str = "/api/v1/emails/delivery-info";

async fn info(app: &TestApp) -> Value {
    let answer = app.server().get(PATH).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

/// The emails that were sent in the last hour, day, week and month.
async fn sent(app: &TestApp) -> [u64; 4] {
    let info = info(app).await;
    ["hour", "day", "week", "month"].map(|window| info["stats"][window]["sent"].as_u64().unwrap())
}

async fn send(app: &TestApp, email: &str) {
    let body = json!({ "email": email, "callback_url": "http://localhost:3000/x" });
    assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.status(), 200);
    app.send_emails().await;
}

/// Reports an event of this kind twice for every sent email, because the email service may repeat
/// reports.
async fn report(app: &TestApp, kind: ReportKind) {
    let list = app.server().get("/api/v1/emails/outbox").await.json();
    for item in list["items"].as_array().unwrap() {
        let entry = wire::id::EmailId::parse(item["id"].as_str().unwrap()).unwrap();
        let row = app.app.store.outbox_entry(app.project_id(), entry).await.unwrap().unwrap();
        let report = Report { attempt: super::attempt(&row.entry), kind, at: app.now().as_millisecond() };
        let told = EntryReport { project: app.project_id().clone(), entry, report };
        assert!(workers::reports::take(&app.app, &told).await.unwrap());
        assert!(!workers::reports::take(&app.app, &told).await.unwrap());
    }
}

#[tokio::test]
async fn a_project_that_has_sent_nothing_has_the_base_rate() {
    let app = TestApp::start().await;
    let none = json!({ "sent": 0, "bounced": 0, "marked_as_spam": 0 });
    let info = info(&app).await;
    assert_eq!(info["stats"], json!({ "hour": none, "day": none, "week": none, "month": none }));
    let rate = info["capacity"]["rate_per_second"].as_f64().unwrap();
    assert!((rate * 3600.0 - 200.0).abs() < 1e-9, "{rate}");
    let capacity = &info["capacity"];
    assert_eq!((&capacity["penalty_factor"], &capacity["boost_multiplier"]), (&json!(1.0), &json!(1.0)));
    assert_eq!((&capacity["is_boost_active"], &capacity["boost_expires_at"]), (&json!(false), &Value::Null));
    // Without a quota for emails, the deployment does not limit the rate.
    let limited = TestApp::start_sending(200).await;
    assert_eq!((&capacity["is_limited"], &self::info(&limited).await["capacity"]["is_limited"]), (&json!(false), &json!(true)));
}

#[tokio::test]
async fn an_email_counts_in_each_window_from_when_it_is_sent() {
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x" });
    app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await;
    assert_eq!(sent(&app).await, [0; 4]);
    app.send_emails().await;
    assert_eq!(sent(&app).await, [1; 4]);
    app.advance(SignedDuration::from_mins(59));
    send(&app, "bob@example.com").await;
    assert_eq!(sent(&app).await, [2; 4]);
    app.advance(SignedDuration::from_mins(1));
    assert_eq!(sent(&app).await, [1, 2, 2, 2]);
    app.advance(SignedDuration::from_hours(24));
    assert_eq!(sent(&app).await, [0, 0, 2, 2]);
    app.advance(SignedDuration::from_hours(6 * 24));
    assert_eq!(sent(&app).await, [0, 0, 0, 2]);
    app.advance(SignedDuration::from_hours(23 * 24));
    assert_eq!(sent(&app).await, [0; 4]);
}

#[tokio::test]
async fn many_emails_are_counted_individually() {
    let app = TestApp::start().await;
    for number in 0..25 {
        let body = json!({ "email": format!("user{number}@example.com"), "callback_url": "http://localhost:3000/x" });
        app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await;
    }
    app.send_emails().await;
    assert_eq!(sent(&app).await, [25; 4]);
    app.send_emails().await;
    assert_eq!(sent(&app).await, [25; 4]);
}

#[tokio::test]
async fn bounces_and_complaints_are_counted_and_reduce_the_rate() {
    let app = TestApp::start().await;
    for number in 0..4 {
        send(&app, &format!("user{number}@example.com")).await;
    }
    report(&app, ReportKind::Bounced).await;
    let after = info(&app).await;
    assert_eq!(after["stats"]["hour"], json!({ "sent": 4, "bounced": 4, "marked_as_spam": 0 }));
    assert_eq!(after["capacity"]["penalty_factor"], 0.1);
    report(&app, ReportKind::MarkedAsSpam).await;
    assert_eq!(info(&app).await["stats"]["month"], json!({ "sent": 4, "bounced": 4, "marked_as_spam": 4 }));
}

#[tokio::test]
async fn an_email_whose_outcome_cannot_be_stored_is_not_counted() {
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x" });
    app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await;
    // Rendering takes three writes and claiming takes one write, so the fifth write is the outcome.
    app.recorder.fail_write(4, "AccessDeniedException");
    app.send_emails().await;
    assert_eq!(sent(&app).await, [0; 4]);
    let list = app.server().get("/api/v1/emails/outbox").await.json();
    assert_eq!(list["items"][0]["status"], "sending");
}

#[tokio::test]
async fn delivery_figures_require_server_access_to_the_project() {
    let app = TestApp::start().await;
    send(&app, "ada@example.com").await;
    let other = app.another_project().await;
    assert_eq!(app.server_of(&other).get(PATH).await.json()["stats"]["month"]["sent"], 0);
    let client = app.client().get(PATH).await;
    assert_eq!((client.status(), client.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
    assert_eq!(app.server().get(&format!("{PATH}?nonsense=1")).await.code(), "SCHEMA_ERROR");
    assert_eq!(sent(&app).await, [1; 4]);
}

/// Workers record the outcomes of several emails together, even if the emails were sent in
/// different minutes.
#[tokio::test]
async fn outcomes_of_several_minutes_are_counted_in_one_write() {
    let app = TestApp::start().await;
    // The counts of an hour are spread over `COUNT_SHARDS` items. If there is one more email than
    // items, at least two emails share an item.
    let emails = usize::from(store::outbox::delivery::COUNT_SHARDS) + 1;
    for number in 0..emails {
        send(&app, &format!("person{number}@example.com")).await;
    }
    let list = app.server().get("/api/v1/emails/outbox").await.json();
    let mut moves = Vec::new();
    for (item, minutes) in list["items"].as_array().unwrap().iter().zip(0..) {
        let entry = wire::id::EmailId::parse(item["id"].as_str().unwrap()).unwrap();
        let row = app.app.store.outbox_entry(app.project_id(), entry).await.unwrap().unwrap();
        let at = app.now() + SignedDuration::from_mins(minutes);
        let report = Report { attempt: super::attempt(&row.entry), kind: ReportKind::Bounced, at: at.as_millisecond() };
        let next = row.entry.clone().report(report, at).unwrap();
        moves.push(OutboxMove::new(row, next));
    }
    assert_eq!(moves.len(), emails);
    assert_eq!(app.app.store.move_outbox_entries(moves).await.unwrap().len(), emails);
    app.advance(SignedDuration::from_mins(10));
    assert_eq!(info(&app).await["stats"]["hour"]["bounced"], emails);
}
