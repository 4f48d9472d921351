//! A new project with the id of a deleted project.

use gateway::keys::Keys;
use jiff::SignedDuration;
use model::project::Project;
use model::project::key_set::NewKeys;
use serde_json::json;
use store::{Error, Label};
use support::TestApp;
use wire::entropy::Entropy;

use super::INTERNAL;

const USERS: &str = "/api/v1/users";

async fn stored(app: &TestApp) -> Option<Project> {
    app.app.store.project(app.project_id()).await.unwrap().map(|row| row.project)
}

/// Deletes the project, which has a user, and returns the project.
async fn delete(app: &TestApp) -> Project {
    app.sign_up("ada@example.com").await;
    let project = stored(app).await.unwrap();
    assert_eq!(app.admin().delete(INTERNAL).await.status(), 200);
    project
}

async fn install(app: &TestApp) -> bool {
    app.keys.install(&app.app.store, &app.app.clock, &app.app.entropy).await.unwrap()
}

async fn is_noted(app: &TestApp) -> bool {
    app.app.store.project_ending(app.project_id()).await.unwrap().is_some()
}

/// Runs the worker often enough to complete every deletion.
async fn complete_deletions(app: &TestApp) {
    for _ in 0..3 {
        app.end_deletions().await;
        app.advance(SignedDuration::from_secs(61));
    }
}

#[tokio::test]
async fn an_id_can_be_used_again_once_the_deletion_is_complete() {
    let app = TestApp::start().await;
    let old = delete(&app).await;
    let keys = NewKeys::random(&Entropy::system(), [], "New".to_owned(), app.now());
    let create = async || app.app.store.create_project(&old, &keys).await;
    let is_ending = |made: Result<(), Error>| matches!(made, Err(Error::Conflict(conflict)) if conflict.is_of(Label::Ending));
    assert!(is_ending(create().await));
    app.end_deletions().await;
    assert!(is_ending(create().await), "the data is deleted, but a late write may follow");
    complete_deletions(&app).await;
    create().await.unwrap();
    complete_deletions(&app).await;
    assert!(stored(&app).await.is_some());
}

#[tokio::test]
async fn a_gateway_that_starts_again_completes_the_deletion_first() {
    for passes in [0, 1] {
        let app = TestApp::start().await;
        delete(&app).await;
        for _ in 0..passes {
            app.end_deletions().await;
        }
        assert!(install(&app).await, "the project is new");
        assert!(!is_noted(&app).await);
        assert_eq!(app.server().get(USERS).await.json()["items"], json!([]));
        app.sign_up("ada@example.com").await;
        complete_deletions(&app).await;
        assert_eq!(app.server().get(USERS).await.json()["items"].as_array().unwrap().len(), 1);
        assert!(!install(&app).await);
    }
}

#[tokio::test]
async fn a_worker_deletes_nothing_of_a_project_that_exists_again() {
    let app = TestApp::start().await;
    let backup = app.table();
    delete(&app).await;
    for item in backup.values() {
        let put = json!({ "TableName": gateway::engine::TABLE, "Item": item });
        app.database().put_item(serde_json::from_value(put).unwrap()).unwrap();
    }
    assert!(is_noted(&app).await);
    complete_deletions(&app).await;
    assert!(!is_noted(&app).await);
    assert_eq!(app.server().get(USERS).await.status(), 200);
    assert_eq!(app.admin().get(INTERNAL).await.status(), 200);
}

#[tokio::test]
async fn completing_a_deletion_keeps_the_note_of_a_later_one() {
    let app = TestApp::start().await;
    delete(&app).await;
    let first = app.app.store.project_ending(app.project_id()).await.unwrap().unwrap();
    install(&app).await;
    app.advance(SignedDuration::from_secs(1));
    delete(&app).await;
    app.app.store.forget_ending(&first).await.unwrap();
    assert!(is_noted(&app).await);
    // For an id that was never used, there is no note of a deletion.
    let other = Keys::generate(&app.app.entropy, app.app.entropy.uuid().into());
    assert_eq!(app.app.store.project_ending(&other.project_id).await.unwrap(), None);
}
