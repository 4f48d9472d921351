//! `GET /api/v1/users`, with tests about pages and about the cost of a search.

use jiff::SignedDuration;
use model::user::User;
use serde_json::{Value, json};
use store::user;
use support::TestApp;

use super::{USERS, assert_error};

/// Creates named users and changes them with `change`. Every three consecutive users share a
/// sign-up time.
async fn write(app: &TestApp, count: usize, change: impl Fn(usize, &mut User)) {
    let (entropy, project) = (&app.app.entropy, app.project_id());
    let mut writes = Vec::with_capacity(count);
    for index in 0..count {
        let mut user = User::new(entropy, app.now() + SignedDuration::from_secs(i64::try_from(index / 3).unwrap()));
        user.display_name = Some(format!("user {index}"));
        change(index, &mut user);
        writes.push(user::create(project, &user).unwrap());
    }
    for chunk in writes.chunks(100) {
        app.app.store.transact(chunk.to_vec()).await.unwrap();
    }
}

/// Follows the cursors, and returns every page.
async fn pages(app: &TestApp, query: &str) -> Vec<Vec<Value>> {
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let answer = app.server().get(&format!("{USERS}?{query}{cursor}")).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        let page = answer.json();
        pages.push(page["items"].as_array().unwrap().clone());
        let Some(next) = page["pagination"]["next_cursor"].as_str() else { return pages };
        cursor = format!("&cursor={next}");
    }
}

fn keys(users: &[Value]) -> Vec<(i64, String)> {
    users.iter().map(|user| (user["signed_up_at_millis"].as_i64().unwrap(), user["id"].as_str().unwrap().to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_size_lists_every_user_once_in_order() {
    let app = TestApp::start_unobserved().await;
    // Writes more data than fits on the largest page.
    write(&app, 210, |_, _| {}).await;
    let all = keys(&pages(&app, "limit=200").await.concat());
    assert_eq!(all.len(), 210);
    assert!(all.is_sorted_by(|one, next| one < next), "users are ordered by the time of sign-up, then by id");
    for limit in [1, 7, 100, 199] {
        let pages = pages(&app, &format!("limit={limit}")).await;
        assert!(pages[..pages.len() - 1].iter().all(|page| page.len() == limit), "only the last page is short");
        assert_eq!(keys(&pages.concat()), all, "limit {limit}");
    }
    let mut backwards = keys(&pages(&app, "limit=50&desc=true").await.concat());
    backwards.reverse();
    assert_eq!(backwards, all);
    let default = pages(&app, "").await;
    assert_eq!((default[0].len(), default.len()), (100, 3));
}

#[tokio::test]
async fn a_page_that_is_exactly_full_is_the_last() {
    let app = TestApp::start().await;
    write(&app, 10, |_, _| {}).await;
    assert_eq!(pages(&app, "limit=10").await.len(), 1);
    assert_eq!(pages(&app, "limit=5").await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_reads_a_bounded_amount_and_misses_nobody() {
    let app = TestApp::start().await;
    let wanted = [0, 1, 2999, 3500, 6000, 6999];
    write(&app, 7000, |index, user| {
        if wanted.contains(&index) {
            user.display_name = Some(format!("Needle {index}"));
        }
    })
    .await;
    for order in ["", "&desc=true"] {
        app.recorder.clear();
        let first = app.server().get(&format!("{USERS}?query=needle{order}")).await.json();
        let queries = app.recorder.calls().iter().filter(|(operation, _)| operation == "Query").count();
        assert!(queries <= 12, "each partition is queried three times at most, but there are {queries} queries");
        assert!(first["pagination"]["next_cursor"].is_string(), "there are more pages");
        let pages = pages(&app, &format!("query=needle{order}")).await;
        assert!((2..=4).contains(&pages.len()), "{}", pages.len());
        let mut found: Vec<String> = pages.concat().iter().map(|user| user["display_name"].as_str().unwrap().to_owned()).collect();
        if !order.is_empty() {
            found.reverse();
        }
        assert_eq!(found, wanted.map(|index| format!("Needle {index}")));
    }
    // The small pages of a search also contain all results.
    assert_eq!(pages(&app, "query=needle&limit=1").await.concat().len(), wanted.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn many_hidden_users_do_not_hide_others() {
    let app = TestApp::start_unobserved().await;
    write(&app, 2000, |index, user| user.is_anonymous = index % 400 != 399).await;
    let found = pages(&app, "limit=2").await.concat();
    let names: Vec<&str> = found.iter().map(|user| user["display_name"].as_str().unwrap()).collect();
    assert_eq!(names, ["user 399", "user 799", "user 1199", "user 1599", "user 1999"]);
    assert_eq!(pages(&app, "limit=200&include_anonymous=true").await.concat().len(), 2000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_large_users_fits_the_response_limit() {
    let app = TestApp::start_unobserved().await;
    let metadata = model::metadata::Metadata::parse(json!({ "k": "x".repeat(32_000) })).unwrap();
    write(&app, 150, |_, user| user.server_metadata = Some(metadata.clone())).await;
    let first = app.server().get(&format!("{USERS}?limit=150")).await;
    assert!(first.text().len() < 4 << 20, "{}", first.text().len());
    assert!(first.json()["pagination"]["next_cursor"].is_string());
    let all = keys(&pages(&app, "limit=150").await.concat());
    assert_eq!(all.len(), 150);
    assert!(all.is_sorted_by(|one, next| one < next));
}

#[tokio::test]
async fn a_cursor_is_bound_to_its_project_list_and_order() {
    let app = TestApp::start().await;
    write(&app, 3, |_, _| {}).await;
    let cursor = app.server().get(&format!("{USERS}?limit=1")).await.json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    assert!(!cursor.contains('#') && uuid::Uuid::try_parse(&cursor).is_err());
    let other = app.another_project().await;
    let damaged = format!("{}A{}", &cursor[..10], &cursor[11..]);
    let refused = [
        app.server_of(&other).get(&format!("{USERS}?cursor={cursor}")).await,
        app.server().get(&format!("{USERS}?desc=true&cursor={cursor}")).await,
        app.server().get(&format!("/api/v1/emails/outbox?cursor={cursor}")).await,
        app.server().get(&format!("{USERS}?cursor={}", if damaged == cursor { "x" } else { &damaged })).await,
        app.server().get(&format!("{USERS}?cursor=7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21")).await,
        app.server().get(&format!("{USERS}?cursor=")).await,
    ];
    for answer in refused {
        assert_error(&answer, 400, "INVALID_CURSOR");
    }
    assert_eq!(app.server().get(&format!("{USERS}?cursor={cursor}")).await.json()["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn users_removed_between_pages_do_not_shift_others() {
    let app = TestApp::start().await;
    write(&app, 9, |_, _| {}).await;
    let all = keys(&pages(&app, "limit=9").await.concat());
    let first = app.server().get(&format!("{USERS}?limit=4")).await.json();
    let cursor = first["pagination"]["next_cursor"].as_str().unwrap();
    assert_eq!(app.server().delete(&super::path(&all[3].1)).await.status(), 200);
    assert_eq!(app.server().delete(&super::path(&all[4].1)).await.status(), 200);
    let second = app.server().get(&format!("{USERS}?limit=9&cursor={cursor}")).await.json();
    assert_eq!(keys(second["items"].as_array().unwrap()), all[5..]);
}
