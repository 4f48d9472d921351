//! `DELETE /api/v1/users/{user_id}`. No part of the user remains or reappears.

use aws_sdk_dynamodb::operation::query::QueryInput;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use support::{SignedInUser, TestApp};

use super::{ME, USERS, assert_error, path, refresh, sign_in, update};
use crate::stored;

#[tokio::test]
async fn a_deleted_user_is_removed_everywhere() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    update(&app, &ada.user_id, json!({ "primary_email": "second@example.com" })).await;
    let answer = app.server().request("DELETE", &path(&ada.user_id)).json(&json!({})).send().await;
    assert_eq!((answer.status(), answer.json()), (200, json!({ "success": true })));

    assert_error(&app.server().get(&path(&ada.user_id)).await, 404, "USER_NOT_FOUND");
    assert_error(&app.server().delete(&path(&ada.user_id)).await, 404, "USER_NOT_FOUND");
    assert_eq!(app.server().get(USERS).await.json()["items"], json!([]));
    assert_error(&app.signed_in(&ada).get(ME).await, 401, "ACCESS_TOKEN_EXPIRED");
    assert_error(&refresh(&app, &ada).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    assert_error(&app.server().get(&format!("/api/v1/auth/sessions?user_id={}", ada.user_id)).await, 400, "USER_ID_DOES_NOT_EXIST");
    let session = app.server().post("/api/v1/auth/sessions", json!({ "user_id": ada.user_id })).await;
    assert_error(&session, 400, "USER_ID_DOES_NOT_EXIST");
    // Other users may claim both addresses.
    for email in ["ada@example.com", "second@example.com"] {
        assert_error(&sign_in(&app, email, "correct horse battery").await, 400, "EMAIL_PASSWORD_MISMATCH");
        assert_ne!(app.sign_up(email).await.user_id, ada.user_id);
    }
}

#[tokio::test]
async fn a_refresh_does_not_restore_a_deleted_user() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    assert_eq!(app.server().delete(&path(&ada.user_id)).await.status(), 200);
    assert_error(&refresh(&app, &ada).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    let row = app.app.store.user(app.project_id(), stored::user_id(&ada)).await.unwrap();
    assert!(row.is_none(), "recording the use of a session must not write a user");
}

#[tokio::test]
async fn codes_of_a_deleted_user_are_invalid() {
    let app = TestApp::start().await;
    let body =
        json!({ "email": "ada@example.com", "password": "correct horse battery", "verification_callback_url": "http://localhost/v" });
    let ada = app.client().post("/api/v1/auth/password/sign-up", body).await.json();
    let verification = app.last_mail("ada@example.com").await.code();
    let reset = json!({ "email": "ada@example.com", "callback_url": "http://localhost/reset" });
    app.client().post("/api/v1/auth/password/send-reset-code", reset).await;
    let reset = app.last_mail("ada@example.com").await.code();
    assert_eq!(app.server().delete(&path(ada["id"].as_str().or(ada["user_id"].as_str()).unwrap())).await.status(), 200);

    let answer = app.client().post("/api/v1/contact-channels/verify", json!({ "code": verification })).await;
    assert_error(&answer, 404, "CONTACT_CHANNEL_NOT_FOUND");
    let answer = app.client().post("/api/v1/auth/password/reset", json!({ "code": reset, "password": "another password" })).await;
    assert_error(&answer, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_eq!(app.server().get(USERS).await.json()["items"], json!([]));
}

#[tokio::test]
async fn an_email_to_a_deleted_user_is_skipped() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let body = json!({ "user_ids": [ada.user_id], "subject": "Hello", "html": "<p>Hello</p>" });
    assert_eq!(app.server().post("/api/v1/emails/send-email", body).await.status(), 200);
    assert_eq!(app.server().delete(&path(&ada.user_id)).await.status(), 200);
    assert!(app.mails("ada@example.com").await.is_empty());
    let entry = app.server().get("/api/v1/emails/outbox").await.json()["items"][0].clone();
    assert_eq!((&entry["status"], &entry["skipped_reason"]), (&json!("skipped"), &json!("USER_ACCOUNT_DELETED")), "{entry}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_deletions_one_succeeds() {
    let app = TestApp::start().await;
    for round in 0..5 {
        let user = app.sign_up(&format!("user{round}@example.com")).await;
        let (path, server) = (path(&user.user_id), app.server());
        let answers = tokio::join!(server.delete(&path), server.delete(&path), server.delete(&path));
        let mut statuses = [answers.0.status(), answers.1.status(), answers.2.status()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 404, 404]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_concurrent_change_does_not_restore_a_deleted_user() {
    let app = TestApp::start().await;
    for round in 0..10 {
        let email = format!("user{round}@example.com");
        let user = app.sign_up(&email).await;
        let (path, server) = (path(&user.user_id), app.server());
        let change = json!({ "display_name": "Back", "primary_email": format!("new{round}@example.com") });
        let (deleted, changed) = tokio::join!(server.delete(&path), server.patch(&path, change));
        assert_eq!(deleted.status(), 200);
        assert!([200, 404].contains(&changed.status()), "{}", changed.text());
        assert_error(&server.get(&path).await, 404, "USER_NOT_FOUND");
        for email in [email, format!("new{round}@example.com")] {
            app.sign_up(&email).await;
        }
    }
}

/// The keys of the items in a user's partition.
async fn left_of(app: &TestApp, user: &SignedInUser) -> Vec<String> {
    let store = &app.app.store;
    let query = QueryInput::builder().table_name(store.table()).key_condition_expression("pk = :pk");
    let partition = AttributeValue::S(format!("U#{}#{}", app.project_id(), user.user_id));
    let answer = store.client().call(query.expression_attribute_values(":pk", partition)).await.unwrap();
    answer.items().iter().map(|item| item["sk"].as_s().unwrap().clone()).collect()
}

#[tokio::test]
async fn a_deleted_user_leaves_no_items() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for _ in 0..5 {
        app.sign_in("ada@example.com").await;
    }
    update(&app, &ada.user_id, json!({ "profile_image_url": "data:image/png;base64,iVBORw0KGgo=" })).await;
    assert_eq!(left_of(&app, &ada).await.len(), 1 + 1 + 6, "the user, a picture, six sessions");
    assert_eq!(app.server().delete(&path(&ada.user_id)).await.status(), 200);
    assert_eq!(left_of(&app, &ada).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_user_with_more_sessions_than_fit_a_transaction_can_be_deleted() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let tokens = stored::add_sessions(&app, &ada, 250, |_| {}).await;
    assert_eq!(app.server().delete(&path(&ada.user_id)).await.status(), 200);
    assert_error(&app.server().get(&path(&ada.user_id)).await, 404, "USER_NOT_FOUND");
    for refresh_token in tokens {
        let answer = refresh(&app, &SignedInUser { refresh_token, ..ada.clone() }).await;
        assert_error(&answer, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    }
}
