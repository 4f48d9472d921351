//! `/api/v1/emails/notification-preference/{user_id}`, which contains the categories of emails that
//! a user accepts.

use serde_json::{Value, json};
use support::{SignedInUser, TestApp};

use super::{read, send};

const TRANSACTIONAL: &str = "7bb82d33-2f54-4a3d-9d23-82739e0d66ef";
const MARKETING: &str = "4f6f8873-3d04-46bd-8bef-18338b1a1b4c";

pub(crate) fn path(user: &str) -> String {
    format!("/api/v1/emails/notification-preference/{user}")
}

async fn set(app: &TestApp, user: &SignedInUser, category: &str, enabled: bool) -> support::Answer {
    app.signed_in(user).patch(&format!("{}/{category}", path("me")), json!({ "enabled": enabled })).await
}

pub(crate) async fn wants_marketing(app: &TestApp, user: &SignedInUser) -> Value {
    let list = app.server().get(&path(&user.user_id)).await.json();
    let item = list["items"].as_array().unwrap().iter().find(|item| item["notification_category_id"] == MARKETING).unwrap().clone();
    item["enabled"].clone()
}

#[tokio::test]
async fn both_categories_are_listed_and_marketing_can_be_declined() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let items = json!([
        { "notification_category_id": TRANSACTIONAL, "notification_category_name": "Transactional", "enabled": true, "can_disable": false },
        { "notification_category_id": MARKETING, "notification_category_name": "Marketing", "enabled": true, "can_disable": true },
    ]);
    assert_eq!(app.signed_in(&ada).get(&path("me")).await.json(), json!({ "items": items, "is_paginated": false }));
    let refused = set(&app, &ada, MARKETING, false).await;
    assert_eq!((refused.status(), &refused.json()["enabled"]), (200, &json!(false)));
    assert_eq!(wants_marketing(&app, &ada).await, false);
    assert_eq!(set(&app, &ada, MARKETING, true).await.status(), 200);
    assert_eq!(wants_marketing(&app, &ada).await, true);

    let needed = set(&app, &ada, TRANSACTIONAL, false).await;
    assert_eq!((needed.status(), needed.code().as_str()), (400, "SCHEMA_ERROR"));
    assert_eq!(set(&app, &ada, TRANSACTIONAL, true).await.status(), 200);
}

#[tokio::test]
async fn preferences_are_applied_when_the_email_is_sent() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let marketing = json!({ "notification_category_name": "Marketing" });
    let id = send(&app, &ada, marketing.clone()).await["id"].as_str().unwrap().to_owned();
    assert_eq!(set(&app, &ada, MARKETING, false).await.status(), 200);
    let needed = send(&app, &ada, json!({ "subject": "Needed" })).await["id"].as_str().unwrap().to_owned();

    let mails = app.mails(&ada.email).await;
    assert_eq!(mails.iter().map(|mail| mail.0.subject.as_str()).collect::<Vec<_>>(), ["Needed"]);
    let skipped = read(&app, &id).await;
    assert_eq!((&skipped["status"], &skipped["skipped_reason"]), (&json!("skipped"), &json!("USER_UNSUBSCRIBED")));
    assert_eq!(read(&app, &needed).await["status"], "sent");
    assert_eq!(set(&app, &ada, MARKETING, true).await.status(), 200);
    send(&app, &ada, marketing).await;
    assert_eq!(app.mails(&ada.email).await.len(), 2);
}

#[tokio::test]
async fn a_client_only_accesses_its_own_preferences() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let foreign = [
        app.signed_in(&bob).get(&path(&ada.user_id)).await,
        app.signed_in(&bob).patch(&format!("{}/{MARKETING}", path(&ada.user_id)), json!({ "enabled": false })).await,
    ];
    for answer in foreign {
        assert_eq!((answer.status(), answer.code().as_str()), (403, "FORBIDDEN"));
    }
    assert_eq!(app.client().get(&path("me")).await.code(), "CANNOT_GET_OWN_USER_WITHOUT_USER");
    assert_eq!(wants_marketing(&app, &ada).await, true);
    let nobody = "00000000-0000-4000-8000-000000000000";
    for answer in [
        app.server().get(&path(nobody)).await,
        app.server().patch(&format!("{}/{MARKETING}", path(nobody)), json!({ "enabled": false })).await,
    ] {
        assert_eq!((answer.status(), answer.code().as_str()), (404, "USER_NOT_FOUND"));
    }
    let unknown = set(&app, &ada, nobody, false).await;
    assert_eq!((unknown.status(), unknown.code().as_str()), (404, "NOTIFICATION_CATEGORY_NOT_FOUND"));
}

#[tokio::test]
async fn updating_a_user_keeps_their_preferences() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    assert_eq!(set(&app, &ada, MARKETING, false).await.status(), 200);
    assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", json!({ "display_name": "Ada" })).await.status(), 200);
    assert_eq!(wants_marketing(&app, &ada).await, false);
}
