//! `POST /api/v1/emails/capacity-boost`.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use support::TestApp;

const BOOST: &str = "/api/v1/emails/capacity-boost";

async fn capacity(app: &TestApp) -> Value {
    app.server().get("/api/v1/emails/delivery-info").await.json()["capacity"].take()
}

#[tokio::test]
async fn a_boost_is_four_times_the_rate_for_four_hours_and_exclusive() {
    let app = TestApp::start().await;
    let before = capacity(&app).await;
    let answer = app.server().post(BOOST, json!({})).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let expires_at = answer.json()["expires_at"].as_str().unwrap().to_owned();
    assert_eq!(expires_at.parse::<Timestamp>().unwrap(), app.now() + SignedDuration::from_hours(4));

    let boosted = capacity(&app).await;
    assert_eq!((&boosted["is_boost_active"], &boosted["boost_expires_at"]), (&json!(true), &json!(expires_at)));
    assert_eq!(boosted["rate_per_second"].as_f64(), before["rate_per_second"].as_f64().map(|rate| rate * 4.0));
    app.advance(SignedDuration::from_hours(3));
    let again = app.server().post(BOOST, json!({})).await;
    assert_eq!((again.status(), again.code().as_str()), (409, "EMAIL_CAPACITY_BOOST_ALREADY_ACTIVE"));
    assert_eq!(again.json()["details"], json!({ "expires_at": expires_at }));

    app.advance(SignedDuration::from_hours(1));
    assert_eq!(capacity(&app).await, before);
    assert_eq!(app.server().post(BOOST, json!({})).await.status(), 200);
}

#[tokio::test]
async fn of_concurrent_requests_one_starts_a_boost() {
    let app = TestApp::start().await;
    let server = app.server();
    let answers = futures_util::future::join_all((0..8).map(|_| server.post(BOOST, json!({})))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), 1);
    let other = app.another_project().await;
    assert_eq!(app.server_of(&other).post(BOOST, json!({})).await.status(), 200);
}
