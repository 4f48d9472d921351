//! The chain of links is built while workers crash, lose responses or run concurrently, and while
//! entries are late, numerous or expiring.

use aws_sdk_dynamodb::types::AttributeValue;
use jiff::SignedDuration;
use model::trail::check::Problem;
use serde_json::json;
use support::{InjectedError, TestApp};

use super::chain::{check, delete, entries, id, items, put};
use super::{DAY, rename, wrong_password};

#[tokio::test]
async fn links_expire_in_order_without_being_reported_missing() {
    let app = TestApp::start().await;
    let days = async |days: u16| app.configure(json!({ "config": { "audit_log_retention_days": days } })).await;
    let ada = app.sign_up("ada@example.com").await;
    days(5).await;
    app.link_trail().await;
    app.advance(DAY);
    days(1).await;
    rename(&app, &ada, "A").await;
    app.link_trail().await;
    app.advance(DAY);
    days(10).await;
    rename(&app, &ada, "B").await;
    app.link_trail().await;

    // Deletes expired items, as DynamoDB does.
    let expire = async || {
        for item in items(&app, "#TRAIL#").await.iter().chain(&items(&app, "#LINKS").await) {
            let is_over = item.get("ttl").is_some_and(|ttl| ttl.as_n().unwrap().parse::<i64>().unwrap() <= app.now().as_second());
            if is_over {
                delete(&app, item).await;
            }
        }
    };
    for _ in 0..12 {
        assert_eq!(check(&app).await.problems(), [], "on {}", app.now());
        expire().await;
        assert_eq!(check(&app).await.problems(), [], "on {}", app.now());
        app.advance(DAY * 9);
    }
    assert_eq!(items(&app, "#LINKS").await.len(), 1, "only the head is left");
    // The chain continues.
    rename(&app, &ada, "C").await;
    assert_eq!(app.link_trail().await, 1);
    assert_eq!(check(&app).await.problems(), []);
    assert_eq!(check(&app).await.report.last.unwrap().0, 4);
}

#[tokio::test]
async fn failed_sign_ins_are_relinked_as_their_count_grows() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    wrong_password(&app, "ada@example.com").await;
    assert_eq!(app.link_trail().await, 2);
    wrong_password(&app, "ada@example.com").await;
    let found = check(&app).await;
    assert_eq!((found.problems(), found.counts()), (Vec::new(), vec![(2, 1, 1)]));
    assert_eq!(app.link_trail().await, 1);
    assert_eq!(check(&app).await.counts(), [(2, 2, 0)]);
    // An entry counts the failures of a minute, and must not change after this minute. The check
    // detects both a lower and a higher count.
    let mut counted = entries(&app).await.into_iter().find(|entry| entry.contains_key("n")).unwrap();
    app.advance(SignedDuration::from_hours(1));
    app.sign_in("ada@example.com").await;
    app.link_trail().await;
    for count in ["1", "3"] {
        counted.insert("n".to_owned(), AttributeValue::N(count.to_owned()));
        put(&app, counted.clone()).await;
        app.link_trail().await;
        assert_eq!(check(&app).await.problems(), [Problem::EntryChanged(id(&counted))]);
    }
}

// The clock is paused, so the waits between attempts take no time.
#[tokio::test(start_paused = true)]
async fn entries_left_by_a_worker_are_linked_by_the_next_one() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.link_trail().await;
    app.recorder.break_writes(0, usize::MAX, InjectedError::NotMade);
    assert!(app.try_link(app.project_id()).await.is_ok(), "there is nothing to write");
    app.recorder.clear();
    for _ in 0..3 {
        app.advance(SignedDuration::from_hours(8));
        rename(&app, &ada, "A").await;
    }
    // The worker crashes after the first link.
    app.recorder.break_writes(1, 100, InjectedError::NotMade);
    assert!(app.try_link(app.project_id()).await.is_err());
    app.recorder.clear();
    let found = check(&app).await;
    assert_eq!(found.problems(), []);
    assert_eq!(found.days.iter().map(|day| day.unlinked).sum::<usize>(), 2);
    app.advance(SignedDuration::from_hours(5));
    assert_eq!(app.link_trail().await, 2);
    assert_eq!(check(&app).await.problems(), []);
}

#[tokio::test(start_paused = true)]
async fn a_lost_response_links_nothing_twice() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    app.recorder.break_writes(0, 1, InjectedError::AnswerLost);
    app.link_trail().await;
    app.recorder.clear();
    assert_eq!(app.link_trail().await, 0);
    assert_eq!(check(&app).await.counts(), [(1, 1, 0)]);
}

#[tokio::test]
async fn concurrent_workers_build_one_chain() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for round in 0..5 {
        app.advance(SignedDuration::from_secs(20));
        for name in ["A", "B", "C"] {
            rename(&app, &ada, name).await;
        }
        let link = || async { app.try_link(app.project_id()).await.unwrap() };
        let linked = tokio::join!(link(), link(), link(), link());
        assert_eq!(linked.0 + linked.1 + linked.2 + linked.3, if round == 0 { 4 } else { 3 });
    }
    let found = check(&app).await;
    assert_eq!((found.problems(), found.counts()), (Vec::new(), vec![(16, 5, 0)]));
}

#[tokio::test]
async fn a_late_entry_is_linked_by_a_later_run() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_secs(30));
    rename(&app, &ada, "A").await;
    // Delays the first entry, as a slow request would.
    let late = entries(&app).await.remove(0);
    delete(&app, &late).await;
    app.link_trail().await;
    put(&app, late).await;
    assert_eq!(check(&app).await.counts(), [(2, 1, 1)]);
    assert_eq!(app.link_trail().await, 1);
    let found = check(&app).await;
    assert_eq!((found.problems(), found.counts()), (Vec::new(), vec![(2, 2, 0)]));
}

#[tokio::test]
async fn more_entries_than_fit_into_one_link_get_several_links() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for number in 0..230 {
        app.advance(SignedDuration::from_millis(1));
        rename(&app, &ada, &number.to_string()).await;
    }
    assert_eq!(app.link_trail().await, 231);
    assert_eq!(check(&app).await.counts(), [(231, 3, 0)]);
    assert_eq!(check(&app).await.problems(), []);
}

#[tokio::test]
async fn the_chain_of_a_deleted_project_is_deleted() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    app.link_trail().await;
    assert_eq!(app.admin().delete("/api/v1/internal/projects/current").await.status(), 200);
    assert_eq!(app.link_trail().await, 0, "deleted projects are no longer linked");
    app.end_deletions().await;
    app.advance(SignedDuration::from_mins(2));
    app.end_deletions().await;
    let left: Vec<_> = app.table().into_keys().filter(|(pk, _)| pk.starts_with(&format!("P#{}", app.project_id()))).collect();
    assert_eq!(left, Vec::new());
}
