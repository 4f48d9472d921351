//! Deleting a project. The project's keys stop working immediately, and all its data is deleted,
//! even if the deletion is interrupted.

use jiff::SignedDuration;
use model::limit::Limits;
use model::project::key_set::NewKeys;
use serde_json::json;
use store::project::key_set;
use support::{TestApp, refused};
use wire::id::ProjectId;

use super::INTERNAL;
use crate::events::{PROJECT, World};
use crate::owners::{Owner, keys_of, with_token};
use crate::stored;

/// The remaining items of a project that do not expire.
fn left(app: &TestApp, project: &str) -> Vec<(String, String)> {
    let table = app.table().into_iter();
    let of_it = table.filter(|((pk, sk), item)| pk.contains(project) || sk.contains(project) || item["d"].to_string().contains(project));
    of_it.filter(|(_, item)| item["ttl"].is_null()).map(|(key, _)| key).collect()
}

#[tokio::test]
async fn the_keys_of_a_deleted_project_stop_working_immediately() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let (id, other) = (ada.project("Notes").await, ada.project("Looms").await);
    let keys = keys_of(&app, &id, &ada.user.access_token).await;
    let callers = [("client", "publishable-client-key"), ("server", "secret-server-key"), ("admin", "super-secret-admin-key")].map(
        |(level, name)| {
            let key = keys[name.replace('-', "_")].as_str().unwrap();
            app.anonymous().with("x-stack-project-id", &id).with("x-stack-access-type", level).with(&format!("x-stack-{name}"), key)
        },
    );
    let sign_up = json!({ "email": "bob@example.com", "password": "correct horse battery" });
    let bob = callers[0].post("/api/v1/auth/password/sign-up", sign_up.clone()).await.json();
    let answer = callers[2].delete(INTERNAL).await;
    assert_eq!((answer.status(), answer.json()), (200, json!({ "success": true })));
    for caller in callers.iter().chain([&with_token(&app, &id, "admin", &ada.user.access_token)]) {
        let answer = caller.get("/api/v1/projects/current").await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "CURRENT_PROJECT_NOT_FOUND"));
    }
    let refresh = callers[0].clone().with("x-stack-refresh-token", bob["refresh_token"].as_str().unwrap());
    assert_eq!(refresh.post("/api/v1/auth/sessions/current/refresh", json!({})).await.code(), "CURRENT_PROJECT_NOT_FOUND");
    assert_eq!(callers[0].post("/api/v1/auth/password/sign-up", sign_up).await.code(), "CURRENT_PROJECT_NOT_FOUND");
    assert_eq!(app.anonymous().get(&format!("/api/v1/projects/{id}/.well-known/jwks.json")).await.code(), "PROJECT_NOT_FOUND");
    assert_eq!(callers[2].delete(INTERNAL).await.code(), "CURRENT_PROJECT_NOT_FOUND");
    // The owner's other project remains.
    assert_eq!(ada.owned().await, ["Looms"]);
    assert_eq!(with_token(&app, &other, "admin", &ada.user.access_token).get(INTERNAL).await.status(), 200);
}

#[tokio::test]
async fn deleting_a_project_leaves_only_expiring_items_and_no_side_effects() {
    let (world, twin) = World::with_twin().await;
    let before = world.app.table();
    let of_twin = |items: &support::Items| items.iter().filter(|((pk, _), _)| pk.contains(crate::events::TWIN)).count();
    assert!(left(&world.app, PROJECT).len() > 20);
    assert_eq!(world.send("projects/internal-current-delete").await.status(), 200);
    assert_eq!(world.app.end_deletions().await, 0, "a request admitted earlier may still write");
    assert_eq!(left(&world.app, PROJECT), [("ENDINGS".to_owned(), format!("PROJECT#{PROJECT}"))]);
    // Sessions expire, so `left` does not include them. The deletion does include them.
    let sessions = |items: &support::Items| {
        items.keys().filter(|(pk, sk)| pk.starts_with(&format!("U#{PROJECT}")) && sk.starts_with("SESSION#")).count()
    };
    assert!(sessions(&before) > 0 && sessions(&world.app.table()) == 0);
    assert_eq!(of_twin(&before), of_twin(&world.app.table()));
    assert_eq!(twin.send("projects/current-read").await.status(), 200);

    // The worker searches once more for late items, such as these keys. The deletion is complete
    // only after this search.
    let (project, late) =
        (ProjectId::parse(PROJECT).unwrap(), NewKeys::random(&world.app.app.entropy, [], "Late".to_owned(), world.app.now()));
    world.app.app.store.transact(key_set::create(&project, &late).unwrap()).await.unwrap();
    assert_eq!(left(&world.app, PROJECT).len(), 2);
    world.app.advance(SignedDuration::from_secs(61));
    assert_eq!(world.app.end_deletions().await, 0);
    assert_eq!(left(&world.app, PROJECT).len(), 1);
    assert_eq!(world.app.end_deletions().await, 1);
    assert_eq!(left(&world.app, PROJECT), []);
    assert_eq!(of_twin(&before), of_twin(&world.app.table()));
}

#[tokio::test]
async fn refresh_tokens_of_an_earlier_version_are_deleted_too() {
    let world = World::new(Limits::off()).await;
    stored::older_sessions(&world.app, true);
    let tokens = || world.app.table().into_keys().filter(|(pk, _)| pk.starts_with(&format!("R#{PROJECT}"))).count();
    assert!(tokens() > 0);
    assert_eq!(world.send("projects/internal-current-delete").await.status(), 200);
    assert_eq!(world.app.end_deletions().await, 0);
    assert_eq!(tokens(), 0);
}

#[tokio::test]
async fn an_interrupted_deletion_resumes_at_the_next_step() {
    for interrupted in [0, 1, 2, 4, 7, 11] {
        let world = World::new(Limits::off()).await;
        assert_eq!(world.send("projects/internal-current-delete").await.status(), 200);
        world.app.recorder.break_writes(interrupted, 1, refused("ValidationException"));
        assert_eq!(world.app.end_deletions().await, 0);
        assert!(world.app.recorder.is_done(), "the deletion makes fewer than {interrupted} writes");
        assert!(left(&world.app, PROJECT).len() > 1, "{interrupted}");
        world.app.advance(SignedDuration::from_secs(61));
        world.app.end_deletions().await;
        assert_eq!(world.app.end_deletions().await, 1);
        assert_eq!(left(&world.app, PROJECT), [], "{interrupted}");
    }
}

#[tokio::test]
async fn a_failed_deletion_changes_nothing() {
    let world = World::new(Limits::off()).await;
    let before = world.app.table();
    world.app.recorder.break_writes(0, 1, refused("ValidationException"));
    assert_eq!(world.send("projects/internal-current-delete").await.status(), 500);
    assert_eq!(before, world.app.table());
}

#[tokio::test]
async fn a_project_with_many_users_is_deleted_completely() {
    let app = TestApp::start().await;
    for index in 0..130 {
        let body = json!({ "primary_email": format!("user{index}@example.com"), "primary_email_auth_enabled": true });
        assert_eq!(app.server().post("/api/v1/users", body).await.status(), 201);
    }
    let id = app.project_id().to_string();
    assert_eq!(app.admin().delete(INTERNAL).await.status(), 200);
    app.end_deletions().await;
    assert_eq!(left(&app, &id), [("ENDINGS".to_owned(), format!("PROJECT#{id}"))]);
}

#[tokio::test]
async fn a_wrong_confirmation_and_the_internal_project_delete_nothing() {
    let app = TestApp::start().await;
    let wrong = app.admin().request("DELETE", INTERNAL).json(&json!({ "project_id": "internal" })).send().await;
    assert_eq!((wrong.status(), wrong.code().as_str()), (400, "SCHEMA_ERROR"));
    assert!(wrong.text().contains("body.project_id"), "{}", wrong.text());
    assert_eq!(app.server().delete(INTERNAL).await.code(), "INSUFFICIENT_ACCESS_TYPE");
    assert_eq!(app.admin().get(INTERNAL).await.status(), 200);
    let right = json!({ "project_id": app.project_id().as_str() });
    assert_eq!(app.admin().request("DELETE", INTERNAL).json(&right).send().await.status(), 200);
    let internal = app.internal_project().await;
    let stays = app.admin_of(&internal).delete(INTERNAL).await;
    assert_eq!((stays.status(), stays.code().as_str()), (403, "INTERNAL_PROJECT_STAYS"));
}
