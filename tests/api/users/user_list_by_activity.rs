//! `GET /api/v1/users?order_by=last_active_at`.

use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use jiff::SignedDuration;
use serde_json::json;
use support::{SignedInUser, TestApp};

use super::{USERS, assert_error, create, fields, path};

const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// The names on a page, and the cursor of the next page, if any.
async fn page(app: &TestApp, query: &str) -> (Vec<String>, Option<String>) {
    let answer = app.server().get(&format!("{USERS}?order_by=last_active_at{query}")).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let page = answer.json();
    let names = page["items"].as_array().unwrap().iter().map(|user| user["display_name"].as_str().unwrap().to_owned());
    (names.collect(), page["pagination"]["next_cursor"].as_str().map(str::to_owned))
}

async fn names(app: &TestApp, query: &str) -> Vec<String> {
    page(app, query).await.0
}

/// Users who sign up one hour apart.
async fn people<const N: usize>(app: &TestApp, names: [&str; N]) -> [SignedInUser; N] {
    let mut users = Vec::new();
    for name in names {
        let user = app.sign_up(&format!("{name}@example.com")).await;
        assert_eq!(app.server().patch(&path(&user.user_id), json!({ "display_name": name })).await.status(), 200);
        users.push(user);
        app.advance(HOUR);
    }
    users.try_into().unwrap()
}

/// Refreshes a user's session.
async fn be_active(app: &TestApp, user: &SignedInUser) {
    let caller = app.client().with("x-stack-refresh-token", &user.refresh_token);
    let answer = caller.post("/api/v1/auth/sessions/current/refresh", json!({})).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
}

async fn link(app: &TestApp) {
    app.try_link(app.project_id()).await.unwrap();
}

/// Removes the places of users in this list, and all figures. The figures contain the record that
/// the list is complete. Earlier versions have neither.
async fn forget_places(app: &TestApp) {
    for ((pk, sk), _) in app.table() {
        let (table, pk_value, sk_value) = (gateway::engine::TABLE, AttributeValue::S(pk.clone()), AttributeValue::S(sk.clone()));
        if sk == "USER" {
            let update = UpdateItemInput::builder().table_name(table).key("pk", pk_value).key("sk", sk_value);
            app.app.store.client().call(update.update_expression("REMOVE gsi2pk, gsi2sk")).await.unwrap();
        } else if pk.starts_with("F#") {
            let delete = DeleteItemInput::builder().table_name(table).key("pk", pk_value).key("sk", sk_value);
            app.app.store.client().call(delete).await.unwrap();
        }
    }
}

#[tokio::test]
async fn users_are_listed_by_the_hour_of_their_last_activity() {
    let app = TestApp::start().await;
    let [ada, bob, _] = people(&app, ["ada", "bob", "eve"]).await;
    assert_eq!(names(&app, "").await, ["ada", "bob", "eve"], "a new user was active when signing up");
    be_active(&app, &ada).await;
    assert_eq!(names(&app, "").await, ["bob", "eve", "ada"]);
    assert_eq!(names(&app, "&desc=true").await, ["ada", "eve", "bob"]);
    app.advance(HOUR);
    be_active(&app, &bob).await;
    assert_eq!(names(&app, "&desc=true").await, ["bob", "ada", "eve"]);
    let signed_up = app.server().get(&format!("{USERS}?order_by=signed_up_at")).await.json();
    assert_eq!(signed_up["items"][0]["display_name"], "ada", "the order by sign-up stays");
    create(&app, json!({ "display_name": "new" })).await;
    create(&app, json!({ "display_name": "hidden", "is_anonymous": true })).await;
    let all = names(&app, "&desc=true&include_anonymous=true").await;
    assert_eq!((all.len(), &all[3..]), (5, &["ada".to_owned(), "eve".to_owned()][..]));
    assert!(!names(&app, "").await.contains(&"hidden".to_owned()));
    assert_eq!(names(&app, "&query=EVE").await, ["eve"]);
    assert_eq!(app.server().delete(&path(&bob.user_id)).await.status(), 200);
    assert!(!names(&app, "").await.contains(&"bob".to_owned()));
}

#[tokio::test]
async fn a_place_changes_once_an_hour() {
    let app = TestApp::start().await;
    let [ada] = people(&app, ["ada"]).await;
    let place = || {
        let item = app.table().into_iter().find(|((_, sk), _)| sk == "USER").unwrap().1;
        (item["gsi2sk"]["S"].clone(), item["last_active_at"]["N"].clone())
    };
    be_active(&app, &ada).await;
    let first = place();
    app.advance(SignedDuration::from_mins(59));
    be_active(&app, &ada).await;
    let later = place();
    assert!(later.0 == first.0 && later.1 != first.1);
    app.advance(SignedDuration::from_mins(1));
    be_active(&app, &ada).await;
    assert_ne!(place().0, first.0);
}

#[tokio::test]
async fn a_cursor_stays_valid_while_users_move() {
    let app = TestApp::start().await;
    let [_, bob, eve, _, _] = people(&app, ["ada", "bob", "eve", "joe", "zoe"]).await;
    let (first, cursor) = page(&app, "&limit=2").await;
    assert_eq!(first, ["ada", "bob"]);
    // The last user on the page moves within the list, and another user is deleted.
    be_active(&app, &bob).await;
    assert_eq!(app.server().delete(&path(&eve.user_id)).await.status(), 200);
    let (second, cursor) = page(&app, &format!("&limit=2&cursor={}", cursor.unwrap())).await;
    assert_eq!(second, ["joe", "zoe"]);
    let (third, end) = page(&app, &format!("&limit=2&cursor={}", cursor.unwrap())).await;
    assert_eq!((third, end), (vec!["bob".to_owned()], None), "bob is listed again, as he was active after the first page");
    assert_eq!(names(&app, "&limit=1").await, ["ada"]);
}

#[tokio::test]
async fn every_page_size_lists_each_user_once_in_both_orders() {
    let app = TestApp::start().await;
    for number in 0..30 {
        create(&app, json!({ "display_name": format!("{number:02}") })).await;
        app.advance(SignedDuration::from_mins(25));
    }
    let all = names(&app, "").await;
    let mut sorted = all.clone();
    sorted.sort();
    assert_eq!(sorted.len(), 30);
    sorted.dedup();
    assert_eq!(sorted.len(), 30);
    for (desc, limit) in [(false, 1), (true, 1), (false, 7), (true, 7), (true, 30)] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let (names, next) = page(&app, &format!("&desc={desc}&limit={limit}{cursor}")).await;
            seen.extend(names);
            let Some(next) = next else { break };
            cursor = format!("&cursor={next}");
        }
        if desc {
            seen.reverse();
        }
        assert_eq!(seen, all, "desc {desc}, limit {limit}");
    }
}

#[tokio::test]
async fn users_of_an_earlier_version_stay_in_the_list() {
    let app = TestApp::start().await;
    let [ada, bob, eve] = people(&app, ["ada", "bob", "eve"]).await;
    be_active(&app, &ada).await;
    link(&app).await;
    forget_places(&app).await;
    assert_eq!(names(&app, "").await, ["ada", "bob", "eve"], "a user without a place counts as active at the sign-up");
    assert_eq!(names(&app, "&desc=true&limit=2").await, ["eve", "bob"]);
    app.advance(HOUR);
    be_active(&app, &bob).await;
    assert_eq!(names(&app, "").await, ["ada", "eve", "bob"], "a user who is active has a place at once");
    // When the next entry of the trail is linked, the worker also gives places to the other users.
    assert_eq!(app.server().patch(&path(&eve.user_id), json!({ "display_name": "Eve" })).await.status(), 200);
    link(&app).await;
    assert_eq!(names(&app, "").await, ["Eve", "ada", "bob"]);
    assert!(app.table().into_iter().filter(|((_, sk), _)| sk == "USER").all(|(_, item)| item["gsi2sk"].is_object()));
    app.recorder.clear();
    names(&app, "").await;
    let queries = app.recorder.calls().into_iter().filter(|(_, body)| body.contains("\"gsi1\"")).count();
    assert_eq!(queries, 0, "the fallback is no longer read");
}

#[tokio::test]
async fn the_order_is_of_all_users_and_has_cursors_of_its_own() {
    let app = TestApp::start().await;
    people(&app, ["ada", "bob"]).await;
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Team" })).await.json();
    let of_team = app.server().get(&format!("{USERS}?order_by=last_active_at&team_id={}", team["id"].as_str().unwrap())).await;
    assert_eq!(fields(&of_team), ["query.order_by"]);
    let cursor = page(&app, "&limit=1").await.1.unwrap();
    for query in ["limit=1", "limit=1&order_by=last_active_at&desc=true"] {
        assert_error(&app.server().get(&format!("{USERS}?{query}&cursor={cursor}")).await, 400, "INVALID_CURSOR");
    }
    let other = app.another_project().await;
    let answer = app.server_of(&other).get(&format!("{USERS}?order_by=last_active_at")).await;
    assert_eq!(answer.json()["items"], json!([]));
}

#[tokio::test]
async fn a_sign_in_counts_as_activity_once_an_hour_and_never_backwards() {
    let app = TestApp::start().await;
    let [ada, bob] = people(&app, ["ada", "bob"]).await;
    let at = async |user: &SignedInUser| app.server().get(&path(&user.user_id)).await.json()["last_active_at_millis"].as_i64().unwrap();
    app.sign_in("ada@example.com").await;
    let first = app.now().as_millisecond();
    link(&app).await;
    assert_eq!((at(&ada).await, names(&app, "&desc=true").await), (first, vec!["ada".to_owned(), "bob".to_owned()]));

    // The next sign-in within the hour does not change the time.
    app.advance(SignedDuration::from_mins(1));
    app.sign_in("ada@example.com").await;
    link(&app).await;
    assert_eq!(at(&ada).await, first);

    // Linking the entry of a sign-in does not undo a later refresh.
    app.advance(HOUR);
    let again = app.sign_in("bob@example.com").await;
    app.advance(SignedDuration::from_secs(1));
    be_active(&app, &again).await;
    let refreshed = app.now().as_millisecond();
    link(&app).await;
    assert_eq!(at(&bob).await, refreshed);

    // Neither a wrong password nor a session in which a server acts as the user counts as activity.
    app.advance(HOUR);
    let wrong = json!({ "email": "ada@example.com", "password": "wrong horse battery" });
    assert_error(&app.client().post("/api/v1/auth/password/sign-in", wrong).await, 400, "EMAIL_PASSWORD_MISMATCH");
    let session = json!({ "user_id": ada.user_id, "is_impersonation": true });
    assert_eq!(app.server().post("/api/v1/auth/sessions", session).await.status(), 200);
    link(&app).await;
    assert_eq!(at(&ada).await, first);
    assert_eq!(app.server().delete(&path(&ada.user_id)).await.status(), 200);
    link(&app).await;
    assert_error(&app.server().get(&path(&ada.user_id)).await, 404, "USER_NOT_FOUND");
}
