//! The audit trail. Each change adds an entry in the same transaction. The entry does not contain
//! values from the request, except ids and the names of targets. Other entries contain counts of
//! failed authentications and rejected sign-ups.

mod accounts;
mod carried;
mod failures;
mod operations;

use jiff::Timestamp;
use model::trail::{Actor, Entry, Event};
use serde_json::Value;
use store::trail::list::TrailListing;
use support::{SignedInUser, TestApp};
use wire::id::{ProjectId, UserId};

/// The start of every list: the day when the tests' clock starts. With an earlier start, a list
/// would read a partition for each earlier day, as far back as a trail may be kept.
const FROM: &str = "2026-01-01T00:00:00Z";

/// The entries of a project, oldest first. If there is a `user`, only the entries of this user.
async fn listed(app: &TestApp, project: &ProjectId, user: Option<UserId>) -> Vec<Entry> {
    let (mut entries, mut after) = (Vec::new(), None::<String>);
    loop {
        let (now, from) = (app.now(), FROM.parse::<Timestamp>().unwrap());
        let listing = TrailListing { user, from, until: None, after: after.as_deref(), limit: 100, read: 100, now };
        let page = app.app.store.trail(project, listing, |_| true).await.unwrap();
        entries.extend(page.rows);
        after = page.next;
        if after.is_none() {
            entries.reverse();
            return entries;
        }
    }
}

/// The trail of a project, in order.
async fn project_trail(app: &TestApp, project: &ProjectId) -> Vec<Entry> {
    listed(app, project, None).await
}

/// The trail of the test's project, in order.
async fn trail(app: &TestApp) -> Vec<Entry> {
    project_trail(app, app.project_id()).await
}

async fn operation_entries(app: &TestApp, operation: &str) -> Vec<Entry> {
    trail(app).await.into_iter().filter(|entry| entry.operation == operation).collect()
}

/// The only entry of an operation.
async fn one(app: &TestApp, operation: &str) -> Entry {
    let mut found = operation_entries(app, operation).await;
    assert_eq!(found.len(), 1, "{operation}: {found:?}");
    found.remove(0)
}

fn id(user: &SignedInUser) -> UserId {
    UserId::parse(&user.user_id).unwrap()
}

async fn last_events(app: &TestApp) -> Vec<Event> {
    trail(app).await.pop().unwrap().events
}

/// The user who caused an entry. `None` if no user caused it.
fn user_of(entry: &Entry) -> Option<UserId> {
    match entry.actor {
        Actor::User { user_id, .. } => Some(user_id),
        _ => None,
    }
}

fn text(entry: &Entry) -> String {
    serde_json::to_string::<Value>(&serde_json::to_value(entry).unwrap()).unwrap()
}
