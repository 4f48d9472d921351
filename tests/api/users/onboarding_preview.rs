//! `POST /api/v1/internal/onboarding/preview-affected-users`.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::TestApp;

const PATH: &str = "/api/v1/internal/onboarding/preview-affected-users";

fn required() -> Value {
    json!({ "onboarding": { "require_email_verification": true } })
}

async fn create(app: &TestApp, fields: Value) -> String {
    let answer = app.server().post("/api/v1/users", fields).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    answer.json()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn users_whom_the_change_would_restrict_are_listed_and_counted() {
    let app = TestApp::start_unobserved().await;
    let ada = app.sign_up("ada@example.com").await;
    app.sign_in_by_mail("verified@example.com").await;
    app.advance(SignedDuration::from_secs(1));
    let nobody = create(&app, json!({ "display_name": "No address" })).await;
    create(&app, json!({ "display_name": "Restricted", "restricted_by_admin": true })).await;
    assert_eq!(app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.status(), 200);

    let answer = app.admin().post(&format!("{PATH}?limit=10"), required()).await;
    let reason = json!({ "type": "email_not_verified" });
    let expected = json!({
        "affected_users": [
            { "id": ada.user_id, "display_name": null, "primary_email": "ada@example.com", "restricted_reason": reason },
            { "id": nobody, "display_name": "No address", "primary_email": null, "restricted_reason": reason },
        ],
        "total_affected_count": 2,
        "pagination": { "next_cursor": null },
    });
    assert_eq!((answer.status(), answer.json()), (200, expected));
    let first = app.admin().post(&format!("{PATH}?limit=1"), required()).await.json();
    assert_eq!((first["affected_users"].as_array().unwrap().len(), &first["total_affected_count"]), (1, &json!(2)));

    // The users found by the preview become restricted only when the change is made.
    let count = async || app.server().get("/api/v1/users").await.json()["items"].as_array().unwrap().len();
    assert_eq!(count().await, 3);
    app.configure(json!({ "config": { "require_email_verification": true } })).await;
    assert_eq!(count().await, 1);
}

#[tokio::test]
async fn a_change_that_restricts_nobody_new_has_an_empty_preview() {
    let app = TestApp::start_unobserved().await;
    app.sign_up("ada@example.com").await;
    let none = json!({ "affected_users": [], "total_affected_count": 0, "pagination": { "next_cursor": null } });
    for onboarding in [json!({}), json!({ "require_email_verification": false })] {
        assert_eq!(app.admin().post(PATH, json!({ "onboarding": onboarding })).await.json(), none);
    }
    app.configure(json!({ "config": { "require_email_verification": true } })).await;
    assert_eq!(app.admin().post(PATH, required()).await.json(), none);
}

#[tokio::test]
async fn a_large_project_is_counted_in_several_requests() {
    let app = TestApp::start_unobserved().await;
    let mut created = 0;
    while created < 1030 {
        let users = (0..103).map(|number| create(&app, json!({ "display_name": format!("{created}-{number}") })));
        created += futures_util::future::join_all(users).await.len();
    }
    let (mut total, mut requests, mut cursor) = (0, 0, None::<String>);
    loop {
        let path = cursor.map_or_else(|| PATH.to_owned(), |cursor| format!("{PATH}?cursor={cursor}"));
        let answer = app.admin().post(&path, required()).await.json();
        total += answer["total_affected_count"].as_u64().unwrap();
        requests += 1;
        cursor = answer["pagination"]["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((total, requests), (1030, 2));
}

#[tokio::test]
async fn only_administrators_see_the_preview() {
    let app = TestApp::start_unobserved().await;
    assert_eq!(app.server().post(PATH, required()).await.code(), "INSUFFICIENT_ACCESS_TYPE");
    for (path, body) in [(format!("{PATH}?limit=0"), required()), (format!("{PATH}?limit=101"), required()), (PATH.to_owned(), json!({}))] {
        assert_eq!(app.admin().post(&path, body).await.code(), "SCHEMA_ERROR", "{path}");
    }
    let other = app.admin().post(&format!("{PATH}?cursor=abc"), required()).await;
    assert_eq!((other.status(), other.code().as_str()), (400, "INVALID_CURSOR"));
}
