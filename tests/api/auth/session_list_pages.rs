//! `GET /api/v1/auth/sessions`, with tests about pages and cursors.

use std::collections::HashSet;

use jiff::SignedDuration;
use serde_json::Value;
use support::{Answer, Caller, TestApp};

use super::{assert_error, problems};
use crate::stored;

const PATH: &str = "/api/v1/auth/sessions";

/// The ids of each page, in order.
async fn pages(caller: &Caller, query: &str) -> Vec<Vec<String>> {
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let answer = caller.get(&format!("{PATH}?{query}{cursor}")).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        let page = answer.json();
        pages.push(page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect());
        match &page["pagination"]["next_cursor"] {
            Value::String(next) => cursor = format!("&cursor={next}"),
            _ => return pages,
        }
    }
}

fn next_cursor(answer: &Answer) -> String {
    answer.json()["pagination"]["next_cursor"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn pages_list_every_session_once_newest_first() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for _ in 0..7 {
        app.advance(SignedDuration::from_millis(1));
        stored::add_sessions(&app, &ada, 17, |_| {}).await;
    }
    let caller = app.signed_in(&ada);
    let lengths = |pages: &[Vec<String>]| pages.iter().map(Vec::len).collect::<Vec<_>>();
    let all = pages(&caller, "").await;
    assert_eq!(lengths(&all), [50, 50, 20]);
    let all = all.concat();
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 120);
    assert!(all.is_sorted_by(|before, after| before > after), "the ids are ordered by time");

    for (limit, expected) in [(1, vec![1; 120]), (60, vec![60, 60]), (100, vec![100, 20])] {
        let pages = pages(&caller, &format!("limit={limit}")).await;
        assert_eq!(lengths(&pages), expected);
        assert_eq!(pages.concat(), all);
    }
    assert_eq!(pages(&app.server(), &format!("user_id={}&limit=100", ada.user_id)).await.concat(), all);
}

#[tokio::test]
async fn a_page_is_full_despite_ended_sessions() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for _ in 0..4 {
        app.advance(SignedDuration::from_millis(1));
        stored::add_sessions(&app, &ada, 30, |session| session.epoch = 7).await;
        app.advance(SignedDuration::from_millis(1));
        stored::add_sessions(&app, &ada, 1, |_| {}).await;
    }
    let lengths: Vec<usize> = pages(&app.signed_in(&ada), "limit=2").await.iter().map(Vec::len).collect();
    assert_eq!(lengths, [2, 2, 1]);
}

#[tokio::test]
async fn a_cursor_is_stable_when_sessions_start_and_end_between_pages() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_millis(1));
    stored::add_sessions(&app, &ada, 3, |_| {}).await;
    let caller = app.server();
    let path = format!("{PATH}?user_id={}&limit=3", ada.user_id);
    let first = caller.get(&path).await;
    let cursor = next_cursor(&first);

    app.advance(SignedDuration::from_millis(1));
    stored::add_sessions(&app, &ada, 5, |_| {}).await;
    let second = caller.get(&format!("{path}&cursor={cursor}")).await.json();
    assert_eq!(second["items"].as_array().unwrap().len(), 1);

    app.signed_in(&ada).delete("/api/v1/auth/sessions/current").await;
    let after = caller.get(&format!("{path}&cursor={cursor}")).await;
    assert_eq!((after.status(), after.json()["items"].as_array().unwrap().len()), (200, 0));
}

#[tokio::test]
async fn foreign_and_malformed_cursors_are_rejected() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    stored::add_sessions(&app, &ada, 2, |_| {}).await;
    let cursor = next_cursor(&app.signed_in(&ada).get(&format!("{PATH}?limit=1")).await);
    assert!(!cursor.contains(&ada.user_id));

    let with = |cursor: &str| format!("{PATH}?limit=1&cursor={cursor}");
    assert_error(&app.signed_in(&bob).get(&with(&cursor)).await, 400, "INVALID_CURSOR");
    let flipped = if cursor.ends_with('A') { "B" } else { "A" };
    let damaged =
        [String::new(), "x".to_owned(), format!("{cursor}x"), cursor[1..].to_owned(), format!("{}{flipped}", &cursor[..cursor.len() - 1])];
    for cursor in damaged {
        assert_error(&app.signed_in(&ada).get(&with(&cursor)).await, 400, "INVALID_CURSOR");
    }

    let session = app.signed_in(&ada).get(PATH).await.json()["items"][0]["id"].as_str().unwrap().to_owned();
    assert_error(&app.signed_in(&ada).get(&with(&session)).await, 400, "INVALID_CURSOR");
    let mails = app.server().get(&format!("/api/v1/emails/outbox?cursor={cursor}")).await;
    assert_error(&mails, 400, "INVALID_CURSOR");
    assert_eq!(app.signed_in(&ada).get(&with(&cursor)).await.status(), 200);
}

#[tokio::test]
async fn an_invalid_query_is_reported_field_by_field() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for limit in ["0", "101", "-1", "1.5", "ten", "", "18446744073709551616"] {
        let problems = problems(&app.signed_in(&ada).get(&format!("{PATH}?limit={limit}")).await);
        assert!(problems.len() == 1 && problems[0].starts_with("query.limit "), "{limit}: {problems:?}");
    }
    let answer = app.signed_in(&ada).get(&format!("{PATH}?user_id=ada&offset=3")).await;
    let mut problems = problems(&answer);
    problems.sort();
    assert_eq!(problems, ["query.offset is not known", "query.user_id must be a UUID or `me`"]);
    let last = app.signed_in(&ada).get(&format!("{PATH}?limit=ten&limit=1")).await;
    assert_eq!(last.status(), 200, "the last of repeated query parameters counts");
}
