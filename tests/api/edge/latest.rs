//! `/api/latest/…` is equivalent to `/api/v1/…`.

use axum::body::Body;
use model::limit::Limits;
use serde_json::json;
use support::{Answer, SignedInUser, TestApp};

use crate::events::{World, events};

#[tokio::test]
async fn v1_and_latest_share_their_accounts() {
    let app = TestApp::start_unobserved().await;
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    let answer = app.client().post("/api/latest/auth/password/sign-up", body.clone()).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let ada = SignedInUser::of("ada@example.com", &answer.json());
    assert_eq!(app.client().post("/api/v1/auth/password/sign-in", body).await.json()["user_id"], ada.user_id);
    for path in ["/api/v1/users/me", "/api/latest/users/me", "/api/latest/users/me?"] {
        assert_eq!(app.signed_in(&ada).get(path).await.json()["id"], ada.user_id, "{path}");
    }
    // The query string is kept.
    let query = app.signed_in(&ada).get("/api/latest/contact-channels?user_id=me").await;
    assert_eq!(query.json()["items"][0]["value"], "ada@example.com");
}

#[tokio::test]
async fn every_operation_is_available_as_latest() {
    for (name, event) in events() {
        let world = World::unobserved(Limits::standard()).await;
        let mut request = world.request(&event);
        let path = request.uri().to_string();
        if !path.starts_with("/api/v1") {
            continue;
        }
        *request.uri_mut() = path.replacen("/api/v1", "/api/latest", 1).parse().unwrap();
        let answer = Answer::read(world.app.answer(request).await).await;
        let expected = if name == "edge-fallback" { 405 } else { answer.status().clamp(200, 307) };
        assert_eq!(answer.status(), expected, "{name}: {}", answer.text());
    }
}

#[tokio::test]
async fn unknown_paths_are_not_found_under_either_name() {
    let app = TestApp::start_unobserved().await;
    for path in ["/api/latest/nonsense", "/api/latest/apps/nonsense", "/api/v2/users/me", "/api/latestusers/me", "/latest/users/me"] {
        assert_eq!(app.anonymous().get(path).await.status(), 404, "{path}");
    }
    let wrong = app.anonymous().get("/api/latest/auth/password/sign-up").await;
    assert_eq!((wrong.status(), wrong.header("allow")), (405, Some("POST")));
    let preflight = http::Request::builder().method("OPTIONS").uri("/api/latest/users/me").body(Body::empty()).unwrap();
    assert_eq!(app.answer(preflight).await.status(), 200);
}
