//! The audit log, with the views of administrators and users, the retention period and the
//! detection of manipulations.

mod activity;
mod altered;
pub(crate) mod chain;
mod export;
mod forged;
mod late;
mod linking;
mod list;
mod retention;
mod rotation;

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{Answer, Caller, SignedInUser, TestApp};

const AUDIT_LOG: &str = "/api/v1/internal/audit-log";
const ACTIVITY: &str = "/api/v1/users/me/activity";
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// The items of a page, and the cursor of the next page, if any.
async fn page(caller: &Caller, path: &str) -> (Vec<Value>, Option<String>) {
    let answer = caller.get(path).await;
    assert_eq!(answer.status(), 200, "{path}: {}", answer.text());
    let page = answer.json();
    assert_eq!(page["is_paginated"], true);
    (page["items"].as_array().unwrap().clone(), page["pagination"]["next_cursor"].as_str().map(str::to_owned))
}

/// The items of each page, in order. `path` must contain a query.
async fn pages(caller: &Caller, path: &str) -> Vec<Vec<Value>> {
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let (items, next) = page(caller, &format!("{path}{cursor}")).await;
        pages.push(items);
        match next {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return pages,
        }
    }
}

/// All entries that match a filter.
async fn entries(app: &TestApp, query: &str) -> Vec<Value> {
    pages(&app.admin(), &format!("{AUDIT_LOG}?{query}")).await.concat()
}

/// The values of a field in all these entries.
fn each<'a>(entries: &'a [Value], field: &str) -> Vec<&'a Value> {
    entries.iter().map(|entry| &entry[field]).collect()
}

/// Renames the user as a server, which adds one entry.
async fn rename(app: &TestApp, user: &SignedInUser, name: &str) {
    let answer = app.server().patch(&format!("/api/v1/users/{}", user.user_id), json!({ "display_name": name })).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
}

async fn wrong_password(app: &TestApp, email: &str) {
    let body = json!({ "email": email, "password": "not that one" });
    assert_eq!(app.client().post("/api/v1/auth/password/sign-in", body).await.status(), 400);
}

#[track_caller]
fn assert_error(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status(), answer.code().as_str()), (status, code), "{}", answer.text());
}
