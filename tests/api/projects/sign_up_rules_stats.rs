//! `GET /api/v1/internal/sign-up-rules-stats`.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{InjectedError, TestApp};

const PATH: &str = "/api/v1/internal/sign-up-rules-stats";
const SIGN_UP: &str = "/api/v1/auth/password/sign-up";

fn rule(id: &str, priority: u32, condition: &str, action: &str) -> Value {
    json!({ "id": id, "priority": priority, "condition": condition, "action": { "type": action } })
}

async fn with_rules() -> TestApp {
    let app = TestApp::start().await;
    let rules = [
        rule("all", 9, "true", "log"),
        rule("free", 8, r#"emailDomain == "free.example""#, "restrict"),
        rule("eve", 7, r#"email == "eve@example.com""#, "reject"),
        rule("own", 6, r#"emailDomain == "our.example""#, "allow"),
    ];
    app.configure(json!({ "config": { "magic_link_enabled": true, "sign_up_rules": rules } })).await;
    app
}

async fn stats(app: &TestApp) -> Value {
    let answer = app.admin().get(PATH).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

async fn sign_up(app: &TestApp, email: &str) -> u16 {
    app.client().post(SIGN_UP, json!({ "email": email, "password": "correct horse battery" })).await.status()
}

/// The number of recent matches and of all matches for each rule.
fn counts(stats: &Value) -> Vec<(String, u64, u64)> {
    let rules = stats["rule_triggers"].as_array().unwrap().iter();
    let number = |rule: &Value, name: &str| rule[name].as_u64().unwrap();
    rules.map(|rule| (rule["rule_id"].as_str().unwrap().to_owned(), number(rule, "total_count"), number(rule, "all_time_count"))).collect()
}

fn owned(counts: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    counts.iter().map(|(id, recent, ever)| ((*id).to_owned(), *recent, *ever)).collect()
}

#[tokio::test]
async fn only_administrators_see_the_counts() {
    let app = TestApp::start().await;
    for caller in [app.client(), app.server()] {
        let refused = caller.get(PATH).await;
        assert_eq!((refused.status(), refused.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
    }
    let none = json!({ "rule_triggers": [], "analytics_hours": 48, "total_triggers": 0, "triggers_by_action": { "allow": 0, "reject": 0, "restrict": 0, "log": 0 } });
    assert_eq!(stats(&app).await, none);
}

#[tokio::test]
async fn every_matching_rule_counts_in_its_hour() {
    let app = with_rules().await;
    assert_eq!(sign_up(&app, "ada@our.example").await, 200);
    assert_eq!(sign_up(&app, "bob@free.example").await, 200);
    app.link_trail().await;
    app.advance(SignedDuration::from_hours(3));
    for _ in 0..3 {
        assert_eq!(sign_up(&app, "eve@example.com").await, 403);
    }
    app.link_trail().await;
    let found = stats(&app).await;
    assert_eq!(counts(&found), owned(&[("all", 5, 5), ("free", 1, 1), ("eve", 3, 3), ("own", 1, 1)]));
    assert_eq!(found["triggers_by_action"], json!({ "allow": 1, "reject": 3, "restrict": 1, "log": 5 }));
    assert_eq!(found["total_triggers"], 10);
    let hours = found["rule_triggers"][0]["hourly_counts"].as_array().unwrap();
    assert_eq!(
        (hours.len(), &hours[44], &hours[47]),
        (48, &json!({ "hour": "2026-01-01T12:00:00.000Z", "count": 2 }), &json!({ "hour": "2026-01-01T15:00:00.000Z", "count": 3 }))
    );

    // After two days, only the total numbers are left, and deleted rules are no longer shown.
    app.configure(json!({ "config": { "sign_up_rules": [rule("all", 9, "true", "log")] } })).await;
    assert_eq!(counts(&stats(&app).await).len(), 4);
    app.advance(SignedDuration::from_hours(48));
    assert_eq!(counts(&stats(&app).await), owned(&[("all", 0, 5)]));
}

#[tokio::test]
async fn a_code_counts_when_it_is_redeemed_and_a_failed_sign_up_does_not() {
    let app = with_rules().await;
    app.sign_in_by_mail("ada@our.example").await;
    // Neither the second sign-in nor the sign-up with an address that already has an account
    // creates a user.
    app.sign_in_by_mail("ada@our.example").await;
    assert_eq!(sign_up(&app, "ada@our.example").await, 409);
    let code = json!({ "code": app.sign_in_code("eve@example.com").await });
    app.link_trail().await;
    assert_eq!(counts(&stats(&app).await)[2], owned(&[("eve", 0, 0)])[0], "a request for a code is not judged");
    assert_eq!(app.client().post("/api/v1/auth/otp/sign-in", code).await.status(), 403);
    app.link_trail().await;
    assert_eq!(counts(&stats(&app).await), owned(&[("all", 2, 2), ("free", 0, 0), ("eve", 1, 1), ("own", 1, 1)]));
}

#[tokio::test]
async fn rejections_are_counted_as_their_number_grows() {
    let app = with_rules().await;
    for sum in 1..=4 {
        assert_eq!(sign_up(&app, "eve@example.com").await, 403);
        app.link_trail().await;
        app.link_trail().await;
        assert_eq!(counts(&stats(&app).await)[2], owned(&[("eve", sum, sum)])[0]);
    }
    let log = app.admin().get("/api/v1/internal/audit-log?event=sign-up-rejected").await.json();
    let entries = log["items"].as_array().unwrap();
    assert_eq!((entries.len(), &entries[0]["count"]), (1, &json!(4)), "one entry for the minute");
    assert_eq!((&entries[0]["place"], &entries[0]["fields"]), (&Value::Null, &json!([])));
}

#[tokio::test]
async fn a_flood_of_rejections_stops_writing() {
    let app = with_rules().await;
    let most = usize::try_from(flows::rejections::MAX_COUNTED).unwrap();
    for _ in 0..most {
        assert_eq!(sign_up(&app, "eve@example.com").await, 403);
    }
    app.recorder.clear();
    for _ in 0..50 {
        assert_eq!(sign_up(&app, "eve@example.com").await, 403);
    }
    assert!(app.recorder.writes().iter().all(|(_, body)| !body.contains("#TRAIL#")), "the entry of the minute is full");
    app.link_trail().await;
    assert_eq!(counts(&stats(&app).await)[2], owned(&[("eve", most as u64, most as u64)])[0]);
    app.advance(SignedDuration::from_mins(1));
    assert_eq!(sign_up(&app, "eve@example.com").await, 403);
    app.link_trail().await;
    assert_eq!(counts(&stats(&app).await)[2].2, most as u64 + 1);
}

// The clock is paused, so the waits between attempts take no time.
#[tokio::test(start_paused = true)]
async fn a_rejection_that_cannot_be_counted_is_still_a_rejection() {
    let app = with_rules().await;
    app.recorder.break_writes(0, usize::MAX, InjectedError::NotMade);
    assert_eq!(sign_up(&app, "eve@example.com").await, 403);
    app.recorder.clear();
}
