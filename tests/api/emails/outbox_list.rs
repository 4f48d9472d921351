//! `GET /api/v1/emails/outbox`.

use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use jiff::SignedDuration;
use model::outbox::status::Status;
use serde_json::{Value, json};
use support::{Caller, TestApp};

use super::{OUTBOX, SEND, entry_in, read, send, with_entry};

/// The entries on each page of a list.
async fn pages(caller: &Caller, query: &str) -> Vec<Vec<Value>> {
    let (mut pages, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let more = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let answer = caller.get(&format!("{OUTBOX}?{query}{more}")).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        let mut body = answer.json();
        assert_eq!(body["is_paginated"], true);
        pages.push(body["items"].as_array().unwrap().clone());
        cursor = match body["pagination"]["next_cursor"].take() {
            Value::Null => return pages,
            Value::String(cursor) => Some(cursor),
            other => panic!("{other} is not a cursor"),
        };
    }
}

fn ids(entries: &[Value]) -> Vec<&str> {
    entries.iter().map(|entry| entry["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_empty_outbox_has_one_empty_page() {
    let app = TestApp::start().await;
    let answer = app.server().get(OUTBOX).await;
    assert_eq!(
        (answer.status(), answer.json()),
        (200, json!({ "items": [], "is_paginated": true, "pagination": { "next_cursor": null } }))
    );
}

#[tokio::test]
async fn entries_are_sorted_newest_first_and_then_by_id() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let old = send(&app, &ada, json!({ "subject": "old" })).await;
    app.advance(SignedDuration::from_millis(1));
    app.server().post(SEND, json!({ "user_ids": app.users(5).await, "html": "x" })).await;
    app.advance(SignedDuration::from_millis(1));
    let new = send(&app, &ada, json!({ "subject": "new" })).await;

    let list = app.server().get(OUTBOX).await.json();
    let entries = list["items"].as_array().unwrap();
    let found = ids(entries);
    assert_eq!((found[0], found[6]), (new["id"].as_str().unwrap(), old["id"].as_str().unwrap()));
    assert!(found[1..6].is_sorted(), "{found:?}");
    assert_eq!(entries[0], read(&app, found[0]).await);
}

#[tokio::test]
async fn the_status_filter_returns_matching_entries() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut all = Vec::new();
    for &status in Status::ALL {
        all.push((status, entry_in(&app, &ada, status).await));
    }
    for (status, _) in &all {
        // Entries in transitional states have already moved to other states, so the list is
        // compared with the current state of each entry.
        let listed = pages(&app.server(), &format!("status={}", status.name())).await.concat();
        let mut expected = Vec::new();
        for (_, id) in &all {
            if read(&app, id).await["status"] == status.name() {
                expected.push(id.as_str());
            }
        }
        expected.sort_unstable();
        assert_eq!(ids(&listed), expected, "{status:?}");
    }
    for simple in ["in-progress", "error", "ok"] {
        let listed = pages(&app.server(), &format!("simple_status={simple}")).await.concat();
        assert!(!listed.is_empty() && listed.iter().all(|entry| entry["simple_status"] == simple), "{simple}");
    }
    let listed = pages(&app.server(), "simple_status=error&status=bounced").await.concat();
    assert!(listed.iter().all(|entry| entry["status"] == "bounced") && listed.len() == 1);
    assert!(pages(&app.server(), "simple_status=ok&status=bounced").await.concat().is_empty());
}

#[tokio::test]
async fn pages_list_every_entry_without_gaps_or_repeats() {
    let app = TestApp::start().await;
    let users = app.users(40).await;
    for _ in 0..3 {
        app.server().post(SEND, json!({ "user_ids": users, "html": "x" })).await;
        app.advance(SignedDuration::from_millis(1));
    }
    let by_default = pages(&app.server(), "").await;
    assert_eq!(by_default.iter().map(Vec::len).collect::<Vec<_>>(), [100, 20]);
    let all = by_default.concat();
    let small = pages(&app.server(), "limit=7").await;
    assert!(small[..17].iter().all(|page| page.len() == 7) && small[17].len() == 1);
    assert_eq!(ids(&small.concat()), ids(&all));
    assert_eq!(pages(&app.server(), "limit=60").await.iter().map(Vec::len).collect::<Vec<_>>(), [60, 60]);
    let mut distinct = ids(&all);
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 120);
}

#[tokio::test]
async fn pages_continue_across_months_including_empty_ones() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut created = Vec::new();
    // Three emails are from January, one is from February, two are from April, and one is from the
    // next year.
    for days in [0, 0, 30, 20, 50, 1, 300] {
        app.advance(SignedDuration::from_hours(24 * days));
        created.push(send(&app, &ada, json!({})).await["id"].as_str().unwrap().to_owned());
        app.advance(SignedDuration::from_secs(1));
    }
    created.reverse();
    for query in ["limit=1", "limit=2", "limit=3", ""] {
        assert_eq!(ids(&pages(&app.server(), query).await.concat()), created, "{query}");
    }
}

#[tokio::test]
async fn a_filter_finds_old_entries() {
    let (app, _, wanted) = with_entry(Status::Skipped).await;
    app.advance(SignedDuration::from_hours(24 * 70));
    app.server().post(SEND, json!({ "user_ids": app.users(30).await, "html": "x" })).await;
    assert_eq!(ids(&pages(&app.server(), "status=skipped&limit=1").await.concat()), [wanted]);
}

#[tokio::test]
async fn an_invalid_query_is_rejected() {
    let app = TestApp::start().await;
    for query in ["limit=0", "limit=101", "limit=-1", "limit=x", "status=SENT", "status=done", "simple_status=fine", "more=1"] {
        let answer = app.server().get(&format!("{OUTBOX}?{query}")).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{query}");
        let name = query.split('=').next().unwrap();
        assert!(answer.text().contains(&format!("query.{name}")), "{}", answer.text());
    }
}

#[tokio::test]
async fn a_foreign_or_malformed_cursor_is_rejected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.server().post(SEND, json!({ "user_ids": app.users(3).await, "html": "x" })).await;
    let first = app.server().get(&format!("{OUTBOX}?limit=1")).await.json();
    let cursor = first["pagination"]["next_cursor"].as_str().unwrap();
    assert!(!cursor.contains("OUTBOX") && cursor.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)), "{cursor}");

    let other = app.another_project().await;
    let elsewhere = app.server_of(&other).get(&format!("{OUTBOX}?cursor={cursor}")).await;
    assert_eq!((elsewhere.status(), elsewhere.code().as_str()), (400, "INVALID_CURSOR"));
    let mut flipped = cursor.to_owned();
    let last = flipped.pop().unwrap();
    flipped.push(if last == 'A' { 'B' } else { 'A' });
    for damaged in ["", "x", "00000000-0000-4000-8000-000000000000", &flipped, &cursor[..cursor.len() - 4], &format!("{cursor}A")] {
        let answer = app.server().get(&format!("{OUTBOX}?cursor={damaged}")).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "INVALID_CURSOR"), "{damaged:?}");
    }
    // A cursor of the session list is invalid in the list of emails.
    app.sign_in(&ada.email).await;
    let sessions = app.signed_in(&ada).get("/api/v1/auth/sessions?limit=1").await.json();
    let foreign = sessions["pagination"]["next_cursor"].as_str().unwrap();
    assert_eq!(app.server().get(&format!("{OUTBOX}?cursor={foreign}")).await.code(), "INVALID_CURSOR");
}

#[tokio::test]
async fn a_project_lists_only_its_own_entries() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    send(&app, &ada, json!({})).await;
    let other = app.another_project().await;
    assert!(pages(&app.server_of(&other), "").await.concat().is_empty());
}

#[tokio::test]
async fn clients_cannot_list_the_outbox() {
    let app = TestApp::start().await;
    let answer = app.client().get(OUTBOX).await;
    assert_eq!((answer.status(), answer.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
}

#[tokio::test]
async fn an_unreadable_entry_hides_no_other_and_stops_no_worker() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut all = Vec::new();
    for _ in 0..3 {
        all.push(send(&app, &ada, json!({})).await["id"].as_str().unwrap().to_owned());
        app.advance(SignedDuration::from_millis(1));
    }
    // Gives an entry an unknown state, which a later version may have written.
    let store = &app.app.store;
    let update = UpdateItemInput::builder().table_name(store.table()).update_expression("SET d.stage = :stage");
    let key = |text: String| aws_sdk_dynamodb::types::AttributeValue::S(text);
    let update = update.key("pk", key(format!("M#{}#{}", app.project_id(), all[1]))).key("sk", key("ENTRY".to_owned()));
    store.client().call(update.expression_attribute_values(":stage", key("unheard of".to_owned()))).await.unwrap();

    let listed = pages(&app.server(), "limit=1").await.concat();
    assert_eq!(ids(&listed), [all[2].as_str(), all[0].as_str()]);
    assert_eq!(app.mails(&ada.email).await.len(), 2);
}

#[tokio::test]
async fn a_search_scans_a_thousand_entries_per_request() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let later = app.now().as_millisecond() + super::HOUR;
    let last = send(&app, &ada, json!({ "scheduled_at_millis": later })).await["id"].as_str().unwrap().to_owned();
    app.server().patch(&super::path(&last), json!({ "cancel": true })).await;
    app.advance(SignedDuration::from_millis(1));
    let body = json!({ "user_ids": app.users(90).await, "html": "x", "theme_id": false, "scheduled_at_millis": later });
    for _ in 0..16 {
        assert_eq!(app.server().post(SEND, body.clone()).await.status(), 200);
    }

    app.recorder.clear();
    let first = app.server().get(&format!("{OUTBOX}?status=skipped")).await.json();
    assert!(first["items"].as_array().unwrap().is_empty() && first["pagination"]["next_cursor"].is_string());
    assert!(app.recorder.calls().len() <= 14, "{}", app.recorder.calls().len());
    let found = pages(&app.server(), "status=skipped").await;
    assert_eq!((ids(&found.concat()), found.len()), (vec![last.as_str()], 2));
}
