//! Unusually large amounts of data.

use std::collections::HashSet;

use jiff::SignedDuration;
use support::TestApp;

use crate::stored;

/// Too many sessions for a single query of the table.
const SESSIONS: usize = 4_000;

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_sessions_are_listed_page_by_page() {
    let app = TestApp::start_unobserved().await;
    let ada = app.sign_up("ada@example.com").await;
    for _ in 0..10 {
        app.advance(SignedDuration::from_secs(1));
        stored::add_sessions(&app, &ada, SESSIONS / 10, |_| {}).await;
    }
    let caller = app.signed_in(&ada);
    let (mut ids, mut times, mut query) = (HashSet::new(), Vec::new(), "limit=100".to_owned());
    loop {
        let page = caller.get(&format!("/api/v1/auth/sessions?{query}")).await;
        assert_eq!(page.status(), 200, "{}", page.text());
        let page = page.json();
        for session in page["items"].as_array().unwrap() {
            ids.insert(session["id"].as_str().unwrap().to_owned());
            times.push(session["created_at"].as_i64().unwrap());
        }
        let Some(next) = page["pagination"]["next_cursor"].as_str() else { break };
        query = format!("limit=100&cursor={next}");
    }
    assert_eq!((ids.len(), times.len()), (SESSIONS + 1, SESSIONS + 1));
    assert!(times.is_sorted_by(|before, after| before >= after));
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_ended_sessions_hide_no_live_one() {
    let app = TestApp::start_unobserved().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_secs(1));
    stored::add_sessions(&app, &ada, SESSIONS, |session| session.epoch = 7).await;
    let list = app.signed_in(&ada).get("/api/v1/auth/sessions").await.json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    assert_eq!(list["pagination"]["next_cursor"], serde_json::Value::Null);
}
