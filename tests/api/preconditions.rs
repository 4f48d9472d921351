//! `If-Match`, which restricts a change to the version that the client has read.

use serde_json::{Value, json};
use support::{Answer, Caller, TestApp};

const PROJECT: &str = "/api/v1/internal/projects/current";

/// A resource that has a version.
struct Resource {
    /// The path of the operation that returns the resource with its version.
    read: String,
    /// The path for changes.
    change: String,
    /// The body of a change, which is different for each number.
    body: fn(usize) -> Value,
}

impl Resource {
    fn at(path: &str, body: fn(usize) -> Value) -> Self {
        Self { read: path.to_owned(), change: path.to_owned(), body }
    }
}

fn named(count: usize) -> Value {
    json!({ "display_name": format!("Name {count}") })
}

fn described(count: usize) -> Value {
    json!({ "description": format!("Description {count}") })
}

async fn created(caller: &Caller, path: &str, body: Value) -> String {
    let answer = caller.post(path, body).await;
    assert!(matches!(answer.status(), 200 | 201), "{}", answer.text());
    format!("{path}/{}", answer.json()["id"].as_str().unwrap())
}

/// One resource of every kind that has versions. `tests/api/emails/outbox_update.rs` covers outbox
/// emails, which are not included here.
async fn resources(app: &TestApp) -> Vec<Resource> {
    let admin = app.admin();
    let ada = app.sign_up("ada@example.com").await;
    let source = json!({ "display_name": "Name", "subject_source": "Subject", "html_source": "<p>Text</p>" });
    let theme = json!({ "display_name": "Name", "html_source": "<p>{{ content }}</p>" });
    let mut all = vec![
        Resource::at(PROJECT, described),
        Resource::at(&format!("/api/v1/users/{}", ada.user_id), named),
        Resource::at(&created(&app.server(), "/api/v1/teams", json!({ "display_name": "Team" })).await, named),
        Resource::at(&created(&admin, "/api/v1/internal/email-templates", source.clone()).await, named),
        Resource::at(&created(&admin, "/api/v1/internal/email-drafts", source).await, named),
        Resource::at(&created(&admin, "/api/v1/internal/email-themes", theme).await, named),
        Resource::at(
            &created(&admin, "/api/v1/internal/webhook-endpoints", json!({ "url": "https://hooks.example.com/" })).await,
            described,
        ),
    ];
    for scope in ["team", "project"] {
        let path = format!("/api/v1/{scope}-permission-definitions");
        let definition = admin.post(&path, json!({ "id": format!("{scope}_reports") })).await;
        assert_eq!(definition.status(), 201, "{}", definition.text());
        all.push(Resource { change: format!("{path}/{scope}_reports"), read: path, body: described });
    }
    all
}

async fn change(caller: &Caller, resource: &Resource, tag: &str, count: usize) -> Answer {
    let request = caller.request("PATCH", &resource.change).header("if-match", tag);
    request.json(&(resource.body)(count)).send().await
}

async fn tag(caller: &Caller, resource: &Resource) -> String {
    let answer = caller.get(&resource.read).await;
    answer.header("etag").unwrap_or_else(|| panic!("{}: {}", resource.read, answer.text())).to_owned()
}

#[tokio::test]
async fn a_change_is_made_only_to_the_version_that_was_read() {
    let app = TestApp::start().await;
    let admin = app.admin();
    for resource in resources(&app).await {
        let path = &resource.change;
        let first = tag(&admin, &resource).await;
        let changed = change(&admin, &resource, &first, 1).await;
        assert_eq!(changed.status(), 200, "{path}: {}", changed.text());
        let second = tag(&admin, &resource).await;
        assert_ne!(first, second, "{path}");
        if let Some(etag) = changed.header("etag") {
            assert_eq!(etag, second, "{path}");
        }

        let before = admin.get(&resource.read).await.json();
        for old in [first.as_str(), "\"nonsense\"", "1", &format!("W/{second}")] {
            let stale = change(&admin, &resource, old, 2).await;
            assert_eq!((stale.status(), stale.code().as_str()), (412, "PRECONDITION_FAILED"), "{path}: {old}");
        }
        assert_eq!(admin.get(&resource.read).await.json(), before, "{path}");

        for current in [format!("\"nonsense\", {second}"), "*".to_owned()] {
            assert_eq!(change(&admin, &resource, &current, 3).await.status(), 200, "{path}: {current}");
        }
        let without = admin.patch(path, (resource.body)(4)).await;
        assert_eq!(without.status(), 200, "{path}: {}", without.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_changes_to_one_version_one_is_made() {
    let app = TestApp::start().await;
    for resource in resources(&app).await {
        let resource = std::sync::Arc::new(resource);
        let read = tag(&app.admin(), &resource).await;
        let changes = (0..12).map(|count| {
            let (caller, resource, read) = (app.admin(), resource.clone(), read.clone());
            tokio::spawn(async move { change(&caller, &resource, &read, count).await })
        });
        let mut made = 0;
        for change in changes.collect::<Vec<_>>() {
            let answer = change.await.unwrap();
            match answer.status() {
                200 => made += 1,
                status => assert_eq!((status, answer.code().as_str()), (412, "PRECONDITION_FAILED"), "{}", resource.change),
            }
        }
        assert_eq!(made, 1, "{}", resource.change);
    }
}

#[tokio::test]
async fn a_tag_of_another_user_does_not_match_and_grants_no_access() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let bob = app.sign_up("bob@example.com").await;
    let path = |user: &str| format!("/api/v1/users/{user}");
    let mine = app.server().get(&path(&ada.user_id)).await.header("etag").unwrap().to_owned();
    for _ in 0..2 {
        assert_eq!(app.server().patch(&path(&bob.user_id), json!({ "display_name": "Bob" })).await.status(), 200);
    }
    let stale = app.server().request("PATCH", &path(&bob.user_id)).header("if-match", &mine);
    assert_eq!(stale.json(&json!({ "display_name": "Eve" })).send().await.status(), 412);
    // If a caller may not read a user, the user does not exist for this caller, regardless of the
    // tag.
    let other = app.another_project().await;
    let foreign = app.server_of(&other).request("PATCH", &path(&bob.user_id)).header("if-match", "*");
    let foreign = foreign.json(&json!({ "display_name": "Eve" })).send().await;
    assert_eq!((foreign.status(), foreign.code().as_str()), (404, "USER_NOT_FOUND"));
}
