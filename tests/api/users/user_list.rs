//! `GET /api/v1/users`, with tests about which users the list contains.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::TestApp;

use super::{USERS, assert_error, create, fields, id_of, update};
use crate::stored;

fn names(page: &Value) -> Vec<String> {
    page["items"].as_array().unwrap().iter().map(|user| user["display_name"].as_str().unwrap_or_default().to_owned()).collect()
}

async fn list(app: &TestApp, query: &str) -> Value {
    let answer = app.server().get(&format!("{USERS}{query}")).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

async fn people(app: &TestApp) {
    for (name, body) in [
        ("Ada", json!({ "primary_email": "ada@example.com", "primary_email_verified": true })),
        ("Visitor", json!({ "is_anonymous": true })),
        ("Mallory", json!({ "restricted_by_admin": true })),
        ("Bob", json!({ "primary_email": "bob@example.org" })),
    ] {
        let mut body = body;
        body["display_name"] = json!(name);
        create(app, body).await;
        app.advance(SignedDuration::from_secs(1));
    }
}

#[tokio::test]
async fn users_are_listed_by_sign_up_time() {
    let app = TestApp::start().await;
    people(&app).await;
    let page = list(&app, "").await;
    assert_eq!(names(&page), ["Ada", "Bob"]);
    assert_eq!((&page["is_paginated"], &page["pagination"]), (&json!(true), &json!({ "next_cursor": null })));
    assert_eq!(names(&list(&app, "?desc=true").await), ["Bob", "Ada"]);
    assert_eq!(names(&list(&app, "?desc=false&order_by=signed_up_at").await), ["Ada", "Bob"]);
    let ada = page["items"][0].clone();
    assert_eq!(super::read(&app, &id_of(&ada)).await, ada, "a server reads the same user everywhere");
}

#[tokio::test]
async fn hidden_users_are_included_on_request() {
    let app = TestApp::start().await;
    people(&app).await;
    assert_eq!(names(&list(&app, "?include_restricted=true").await), ["Ada", "Mallory", "Bob"]);
    assert_eq!(names(&list(&app, "?include_anonymous=true").await), ["Ada", "Visitor", "Mallory", "Bob"]);
    assert_eq!(names(&list(&app, "?include_anonymous=true&only_anonymous=true").await), ["Visitor"]);
    assert_eq!(names(&list(&app, "?include_restricted=false&include_anonymous=false&only_anonymous=false").await), ["Ada", "Bob"]);
    app.configure(json!({ "config": { "require_email_verification": true } })).await;
    assert_eq!(names(&list(&app, "").await), ["Ada"]);
    assert_eq!(names(&list(&app, "?include_restricted=true").await), ["Ada", "Mallory", "Bob"]);
}

#[tokio::test]
async fn a_search_matches_names_addresses_and_ids_ignoring_case() {
    let app = TestApp::start().await;
    people(&app).await;
    for (words, found) in [
        ("ada", vec!["Ada"]),
        ("ADA", vec!["Ada"]),
        ("d", vec!["Ada"]),
        ("EXAMPLE", vec!["Ada", "Bob"]),
        ("example.org", vec!["Bob"]),
        ("mallory", vec![]),
        ("nobody", vec![]),
        ("", vec!["Ada", "Bob"]),
        ("%25", vec![]),
    ] {
        assert_eq!(names(&list(&app, &format!("?query={words}")).await), found, "{words}");
    }
    let all = list(&app, "?include_anonymous=true").await;
    let [ada, visitor] = [0, 1].map(|index| id_of(&all["items"][index]));
    assert_eq!(names(&list(&app, &format!("?query={}", ada.to_uppercase())).await), ["Ada"]);
    assert_eq!(names(&list(&app, &format!("?query={visitor}")).await), Vec::<String>::new());
    assert_eq!(names(&list(&app, &format!("?query={visitor}&include_anonymous=true")).await), ["Visitor"]);
    assert_eq!(names(&list(&app, &format!("?query={}", &ada[..8])).await), Vec::<String>::new(), "ids only match as a whole");
}

#[tokio::test]
async fn a_search_matches_former_primary_addresses() {
    let app = TestApp::start().await;
    let ada = create(&app, json!({ "display_name": "Ada", "primary_email": "old@example.com" })).await;
    update(&app, &id_of(&ada), json!({ "primary_email": "new@example.com" })).await;
    for words in ["old@", "new@"] {
        assert_eq!(names(&list(&app, &format!("?query={words}")).await), ["Ada"]);
    }
}

#[tokio::test]
async fn the_list_reflects_changes_to_users() {
    let app = TestApp::start().await;
    let visitor = stored::anonymous_user(&app).await;
    app.advance(SignedDuration::from_secs(1));
    create(&app, json!({ "display_name": "Ada" })).await;
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(names(&list(&app, "").await), ["Ada"]);
    // The list is ordered by sign-up time, so a visitor who has just signed up is last.
    let sign_up = json!({ "email": "bob@example.com", "password": "correct horse battery" });
    let caller = app.signed_in(&visitor).with("x-stack-allow-anonymous-user", "true");
    assert_eq!(caller.post("/api/v1/auth/password/sign-up", sign_up).await.json()["user_id"], visitor.user_id.as_str());
    let page = list(&app, "").await;
    assert_eq!((names(&page), id_of(&page["items"][1])), (vec!["Ada".to_owned(), String::new()], visitor.user_id.clone()));
    update(&app, &visitor.user_id, json!({ "display_name": "Bob" })).await;
    assert_eq!(names(&list(&app, "").await), ["Ada", "Bob"]);
    assert_eq!(app.server().delete(&super::path(&visitor.user_id)).await.status(), 200);
    assert_eq!(names(&list(&app, "").await), ["Ada"]);
}

#[tokio::test]
async fn filtering_by_an_unknown_team_finds_nobody() {
    let app = TestApp::start().await;
    people(&app).await;
    let page = list(&app, "?team_id=7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21").await;
    assert_eq!((&page["items"], &page["pagination"]["next_cursor"]), (&json!([]), &Value::Null));
    assert_eq!(fields(&app.server().get(&format!("{USERS}?team_id=x")).await), ["query.team_id"]);
}

#[tokio::test]
async fn every_problem_of_a_query_is_reported() {
    let app = TestApp::start().await;
    let query = "?limit=x&order_by=name&desc=1&include_restricted=yes&include_anonymous=&only_anonymous=True&team_id=x&nonsense=1";
    let mut expected = ["limit", "order_by", "desc", "include_restricted", "include_anonymous", "only_anonymous", "team_id", "nonsense"]
        .map(|name| format!("query.{name}"));
    expected.sort();
    assert_eq!(fields(&app.server().get(&format!("{USERS}{query}")).await), expected);
    for limit in ["0", "201", "-1", "1.5"] {
        assert_eq!(fields(&app.server().get(&format!("{USERS}?limit={limit}")).await), ["query.limit"]);
    }
    assert_eq!(fields(&app.server().get(&format!("{USERS}?only_anonymous=true")).await), ["query.only_anonymous"]);
}

#[tokio::test]
async fn only_servers_can_list_users() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    assert_error(&app.signed_in(&ada).get(USERS).await, 403, "INSUFFICIENT_ACCESS_TYPE");
    assert_error(&app.anonymous().get(USERS).await, 401, "ACCESS_TYPE_REQUIRED");
    assert_eq!(app.admin().get(USERS).await.json()["items"][0]["id"], ada.user_id.as_str());
    let other = app.another_project().await;
    assert_eq!(app.server_of(&other).get(USERS).await.json()["items"], json!([]));
}
