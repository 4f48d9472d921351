//! `GET /api/v1/auth/oauth/authorize/{provider_id}` with requests that are rejected before the
//! redirect to the provider.

use jiff::SignedDuration;
use secrecy::ExposeSecret as _;
use serde_json::json;
use support::TestApp;

use super::oauth_authorize::{authorize, parameters, parameters_with, start};
use super::{assert_error, problems};
use crate::stored;

/// Asserts that the request is rejected, that nothing is stored, and that the user is not
/// redirected.
async fn assert_refused(app: &TestApp, others: &[(&'static str, &str)], status: u16, code: &str) -> serde_json::Value {
    app.recorder.clear();
    let answer = authorize(app, "github", &parameters_with(app, others)).await;
    let details = assert_error(&answer, status, code);
    assert_eq!((answer.header("location"), answer.header("set-cookie")), (None, None));
    assert!(app.recorder.calls().iter().all(|(operation, _)| operation.contains("Get")), "{others:?}");
    details
}

#[tokio::test]
async fn untrusted_redirect_urls_are_rejected() {
    let app = start().await;
    for name in ["redirect_uri", "error_redirect_uri", "error_redirect_url", "after_callback_redirect_url"] {
        let of_a_provider = "http://localhost:8787/api/v1/auth/oauth/callback/evil?state=s";
        let misread = ["http://localhost.evil.test", "http://localhost@evil.test", "javascript://localhost/%0aalert(1)"];
        for url in ["https://evil.test/", of_a_provider].into_iter().chain(misread) {
            assert_refused(&app, &[(name, url)], 400, "REDIRECT_URL_NOT_WHITELISTED").await;
        }
        for url in ["/relative", "", "//evil.test", "http://local\nhost"] {
            let answer = authorize(&app, "github", &parameters_with(&app, &[(name, url)])).await;
            let problem = "must be an absolute URL of at most 2048 bytes, without control characters or backslashes";
            assert_eq!(problems(&answer), [format!("query.{name} {problem}")], "{url:?}");
        }
    }
    app.configure(json!({ "config": { "allow_localhost": false } })).await;
    assert_refused(&app, &[], 400, "REDIRECT_URL_NOT_WHITELISTED").await;
}

#[tokio::test]
async fn the_challenge_must_be_an_s256_digest() {
    let app = start().await;
    for method in ["plain", "s256", "", "S512"] {
        let answer = authorize(&app, "github", &parameters_with(&app, &[("code_challenge_method", method)])).await;
        assert_eq!(problems(&answer), ["query.code_challenge_method must be one of S256"]);
    }
    for challenge in
        ["", "short", &"a".repeat(42), &"a".repeat(44), &format!("{}=", "a".repeat(42)), &"ä".repeat(43), &format!("{}+", "a".repeat(42))]
    {
        let answer = authorize(&app, "github", &parameters_with(&app, &[("code_challenge", challenge)])).await;
        let problems = problems(&answer);
        assert!(problems.len() == 1 && problems[0].starts_with("query.code_challenge "), "{challenge}: {problems:?}");
    }
}

#[tokio::test]
async fn every_required_parameter_is_required() {
    let app = start().await;
    let all = parameters(&app);
    for (name, _) in &all {
        let without: Vec<_> = all.iter().filter(|(other, _)| other != name).cloned().collect();
        let answer = authorize(&app, "github", &without).await;
        assert_eq!(problems(&answer), [format!("query.{name} is required")]);
    }
    assert_eq!(problems(&authorize(&app, "github", &[]).await).len(), all.len(), "all are reported together");
}

#[tokio::test]
async fn invalid_parameter_values_are_rejected() {
    let app = start().await;
    let wrong = [
        ("grant_type", "refresh_token"),
        ("response_type", "token"),
        ("type", "register"),
        ("response_mode", "form_post"),
        ("stack_response_mode", "JSON"),
        ("hexclave_response_mode", ""),
        ("bot_challenge_phase", "hidden"),
        ("bot_challenge_unavailable", "false"),
        ("state", ""),
        ("state", &"x".repeat(2049)),
        ("provider_scope", &"x".repeat(4097)),
    ];
    for (name, value) in wrong {
        let answer = authorize(&app, "github", &parameters_with(&app, &[(name, value)])).await;
        let problems = problems(&answer);
        assert!(problems.len() == 1 && problems[0].starts_with(&format!("query.{name} ")), "{name}={value}: {problems:?}");
    }
}

#[tokio::test]
async fn an_invalid_client_is_rejected() {
    let app = start().await;
    let other = app.another_project().await;
    let project = app.project_id().to_string();
    for id in ["7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21", "nothing", "", &format!("{project}#other")] {
        let details = assert_refused(&app, &[("client_id", id)], 400, "INVALID_OAUTH_CLIENT_ID_OR_SECRET").await;
        assert_eq!(details, json!({ "client_id": id }));
    }
    for secret in ["pck_wrong", other.client.expose_secret(), app.keys.server.expose_secret()] {
        let details = assert_refused(&app, &[("client_secret", secret)], 401, "INVALID_PUBLISHABLE_CLIENT_KEY").await;
        assert_eq!(details, json!({ "project_id": project }));
    }
}

#[tokio::test]
async fn a_provider_that_is_not_enabled_is_rejected() {
    let app = start().await;
    for provider in ["spotify", "nothing", "GitHub", "git%2Fhub", "..%2Fgithub", "%2e%2e", "github%00", "%F0%9F%92%A1"] {
        let answer = authorize(&app, provider, &parameters(&app)).await;
        assert_error(&answer, 400, "OAUTH_PROVIDER_NOT_FOUND_OR_NOT_ENABLED");
    }
}

#[tokio::test]
async fn only_the_supported_app_scope_is_accepted() {
    let app = start().await;
    for scope in ["", "openid", "legacy openid"] {
        assert_refused(&app, &[("scope", scope)], 400, "INVALID_SCOPE").await;
    }
}

#[tokio::test]
async fn linking_requires_a_valid_token() {
    let app = start().await;
    let ada = app.sign_up("ada@example.com").await;
    for others in [&[("type", "link")][..], &[("type", "link"), ("token", "")]] {
        let answer = authorize(&app, "github", &parameters_with(&app, others)).await;
        assert_eq!(problems(&answer), ["query.token is required to link an account"]);
    }
    for purpose in ["link", "authenticate"] {
        assert_refused(&app, &[("type", purpose), ("token", "no.token.this")], 401, "UNPARSABLE_ACCESS_TOKEN").await;
    }

    let other = app.another_project().await;
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    let stranger =
        app.client_of(&other).post("/api/v1/auth/password/sign-up", body).await.json()["access_token"].as_str().unwrap().to_owned();
    let details = assert_refused(&app, &[("type", "link"), ("token", &stranger)], 401, "INVALID_PROJECT_FOR_ACCESS_TOKEN").await;
    assert_eq!(details, json!({ "expected_project_id": app.project_id(), "actual_project_id": other.project_id }));

    let gone = app.sign_up("gone@example.com").await;
    stored::delete_user(&app, &gone).await;
    assert_refused(&app, &[("type", "link"), ("token", &gone.access_token)], 401, "ACCESS_TOKEN_EXPIRED").await;

    app.advance(SignedDuration::from_mins(10));
    let details = assert_refused(&app, &[("type", "link"), ("token", &ada.access_token)], 401, "ACCESS_TOKEN_EXPIRED").await;
    assert_eq!((&details["user_id"], &details["expired_at_millis"]), (&json!(ada.user_id), &json!(app.now().as_millisecond())));
}

#[tokio::test]
async fn the_first_of_several_failures_is_reported() {
    let app = start().await;
    app.configure(json!({ "config": { "require_publishable_client_key": true } })).await;
    let mut wrong = vec![
        ("code_challenge", "short"),
        ("client_id", "nothing"),
        ("client_secret", ""),
        ("redirect_uri", "https://evil.test/"),
        ("token", "no.token.this"),
    ];
    assert_refused(&app, &wrong, 400, "SCHEMA_ERROR").await;
    wrong.remove(0);
    assert_refused(&app, &wrong, 400, "INVALID_OAUTH_CLIENT_ID_OR_SECRET").await;
    wrong.remove(0);
    assert_refused(&app, &wrong, 401, "PUBLISHABLE_CLIENT_KEY_REQUIRED_FOR_PROJECT").await;
    wrong.remove(0);
    let unknown = authorize(&app, "spotify", &parameters_with(&app, &wrong)).await;
    assert_error(&unknown, 400, "OAUTH_PROVIDER_NOT_FOUND_OR_NOT_ENABLED");
    assert_refused(&app, &wrong, 400, "REDIRECT_URL_NOT_WHITELISTED").await;
    wrong.remove(0);
    assert_refused(&app, &wrong, 401, "UNPARSABLE_ACCESS_TOKEN").await;
}
