//! `GET /api/v1/projects/{project_id}/.well-known/webauthn`.

use serde_json::json;
use support::TestApp;

#[tokio::test]
async fn the_exact_trusted_domains_are_related_origins() {
    let app = TestApp::start().await;
    let path = format!("/api/v1/projects/{}/.well-known/webauthn", app.project_id());
    let domains =
        ["https://app.example.com", "https://example.de:443", "https://*.example.net", "http://plain.example", "https://a.test:8443"];
    let domains: Vec<_> = domains.iter().map(|domain| json!({ "domain": domain })).collect();
    app.configure(json!({ "config": { "domains": domains } })).await;
    assert_eq!(app.anonymous().get(&path).await.json(), json!({ "origins": [] }), "passkeys are off");

    app.offer_passkeys().await;
    let answer = app.anonymous().get(&path).await;
    assert_eq!(answer.json(), json!({ "origins": ["https://app.example.com", "https://example.de", "https://a.test:8443"] }));
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
    assert_eq!(answer.header("cache-control"), Some("public, max-age=3600"));
}

#[tokio::test]
async fn an_unknown_project_has_no_related_origins() {
    let app = TestApp::start().await;
    for id in ["00000000-0000-4000-8000-000000000000", "nonsense"] {
        let answer = app.anonymous().get(&format!("/api/v1/projects/{id}/.well-known/webauthn")).await;
        assert_eq!((answer.status(), answer.code().as_str()), (404, "PROJECT_NOT_FOUND"));
    }
}
