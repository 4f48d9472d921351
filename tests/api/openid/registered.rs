//! Clients that register themselves (RFC 7591).

use jiff::SignedDuration;
use model::openid::document::MAX_UNUSED;
use serde_json::{Value, json};
use support::{Answer, TestApp};

use super::described::permit;
use super::{CLIENTS, REDIRECT, RelyingParty, assert_error, signed_in, text};
use crate::expiry::delete_expired;

async fn register(app: &TestApp, body: Value) -> Answer {
    let path = format!("/api/v1/projects/{}/oauth2/register", app.project_id());
    app.anonymous().post(&path, body).await
}

#[tokio::test]
async fn a_client_registers_itself_if_the_project_permits_it() {
    let app = TestApp::start().await;
    let body =
        json!({ "client_name": "Notes", "redirect_uris": ["http://127.0.0.1/cb"], "application_type": "native", "software_id": "x" });
    assert_error(&register(&app, body.clone()).await, 403, "CLIENT_REGISTRATION_NOT_ENABLED");
    permit(&app, json!({ "oauth_client_registration_enabled": true })).await;
    let metadata = app.anonymous().get(&format!("/api/v1/projects/{}/.well-known/openid-configuration", app.project_id())).await.json();
    assert!(text(&metadata["registration_endpoint"]).ends_with("/oauth2/register"));
    let registered = register(&app, body).await;
    assert_eq!(registered.status(), 201, "{}", registered.text());
    let registered = registered.json();
    assert_eq!((&registered["token_endpoint_auth_method"], registered.get("client_secret")), (&json!("none"), None));
    let rp =
        RelyingParty { app: &app, id: text(&registered["client_id"]), secret: None, redirect_uri: "http://127.0.0.1:9123/cb".to_owned() };
    let browser = signed_in(&app, "ada@example.com").await;
    let page = rp.page(&browser, &[]).await.text().to_owned();
    assert!(page.contains("nobody has checked it"), "{page}");
    assert_eq!(rp.tokens(&browser).await["token_type"], "Bearer");
    for (changes, error) in [
        (json!({ "redirect_uris": ["https://evil.example/cb"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": [] }), "invalid_redirect_uri"),
        (json!({ "client_name": "" }), "invalid_client_metadata"),
        (json!({ "token_endpoint_auth_method": "client_secret_basic" }), "invalid_client_metadata"),
    ] {
        let mut body = json!({ "client_name": "Notes", "redirect_uris": ["http://127.0.0.1/cb"], "application_type": "native" });
        body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let refused = register(&app, body).await;
        assert_eq!((refused.status(), &refused.json()["error"]), (400, &json!(error)), "{changes}: {}", refused.text());
    }
}

#[tokio::test]
async fn an_unused_registration_expires_and_their_number_is_limited() {
    let app = TestApp::start().await;
    permit(&app, json!({ "oauth_client_registration_enabled": true })).await;
    let body = json!({ "client_name": "Notes", "redirect_uris": [REDIRECT] });
    let (unused, used) = (register(&app, body.clone()).await.json(), register(&app, body.clone()).await.json());
    let browser = signed_in(&app, "ada@example.com").await;
    let party =
        |client: &Value| RelyingParty { app: &app, id: text(&client["client_id"]), secret: None, redirect_uri: REDIRECT.to_owned() };
    party(&used).tokens(&browser).await;
    for _ in 2..=MAX_UNUSED {
        assert_eq!(register(&app, body.clone()).await.status(), 201);
    }
    assert_error(&register(&app, body.clone()).await, 429, "TOO_MANY_UNUSED_CLIENTS");
    // An administrator makes room.
    let first = app.admin().get(&format!("{CLIENTS}?limit=2")).await.json();
    for client in first["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|client| ![&unused, &used].iter().any(|own| own["client_id"] == client["id"]))
        .take(1)
    {
        assert_eq!(app.admin().delete(&format!("{CLIENTS}/{}", text(&client["id"]))).await.status(), 200);
        assert_eq!(register(&app, body.clone()).await.status(), 201);
    }
    app.advance(SignedDuration::from_hours(31 * 24));
    delete_expired(&app).await;
    let browser = signed_in(&app, "grace@example.com").await;
    assert_eq!(party(&unused).authorize(&browser, &[]).await.status(), 400);
    assert_eq!(party(&used).authorize(&browser, &[]).await.status(), 303);
    assert_eq!(register(&app, body).await.status(), 201);
}
