//! `POST /api/v1/auth/oauth/token`.

use jiff::SignedDuration;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use support::{Answer, SignedInUser, TestApp};

use super::{assert_error, opens_own_data, problems};
use crate::stored;

const PATH: &str = "/api/v1/auth/oauth/token";

fn request(app: &TestApp, user: &SignedInUser) -> Value {
    json!({
        "grant_type": "refresh_token",
        "client_id": app.project_id(),
        "client_secret": app.keys.client.expose_secret(),
        "refresh_token": user.refresh_token,
    })
}

fn request_with(app: &TestApp, user: &SignedInUser, name: &str, value: impl Into<Value>) -> Value {
    let mut body = request(app, user);
    body[name] = value.into();
    body
}

#[tokio::test]
async fn form_and_json_requests_get_the_same_tokens() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_mins(11));
    let project = app.project_id().to_string();
    let secret = app.keys.client.expose_secret();
    let form = [("grant_type", "refresh_token"), ("client_id", &project), ("client_secret", secret), ("refresh_token", &ada.refresh_token)];
    let answers = [app.anonymous().post(PATH, request(&app, &ada)).await, app.anonymous().request("POST", PATH).form(&form).send().await];
    for answer in answers {
        assert_eq!(answer.status(), 200, "{}", answer.text());
        assert_eq!((answer.header("cache-control"), answer.header("pragma")), (Some("no-store"), Some("no-cache")));
        assert!(answer.header("content-type").unwrap().starts_with("application/json"));
        let mut body = answer.json();
        let access_token = body["access_token"].take().as_str().unwrap().to_owned();
        assert!(opens_own_data(&app, &SignedInUser { access_token, ..ada.clone() }).await);
        let expected = json!({
            "access_token": null, "token_type": "Bearer", "expires_in": 3599, "scope": "legacy",
            "afterCallbackRedirectUrl": null, "after_callback_redirect_url": null,
        });
        assert_eq!(body, expected);
    }
}

#[tokio::test]
async fn a_refresh_token_is_not_rotated() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for _ in 0..3 {
        app.advance(SignedDuration::from_hours(24));
        assert_eq!(app.anonymous().post(PATH, request(&app, &ada)).await.status(), 200);
    }
    let used = app.server().get(&format!("/api/v1/auth/sessions?user_id={}", ada.user_id)).await.json();
    assert_eq!(used["items"][0]["last_used_at"], app.now().as_millisecond());
}

#[tokio::test]
async fn the_client_key_is_optional_if_the_project_does_not_require_it() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut without = request(&app, &ada);
    without.as_object_mut().unwrap().remove("client_secret");
    let sentinel = request_with(&app, &ada, "client_secret", "__stack_public_client__");
    for body in [&without, &sentinel] {
        assert_eq!(app.anonymous().post(PATH, body.clone()).await.status(), 200);
    }
    app.configure(json!({ "config": { "require_publishable_client_key": true } })).await;
    for body in [&without, &sentinel] {
        let details = assert_error(&app.anonymous().post(PATH, body.clone()).await, 401, "PUBLISHABLE_CLIENT_KEY_REQUIRED_FOR_PROJECT");
        assert_eq!(details, json!({ "project_id": app.project_id() }));
    }
    assert_eq!(app.anonymous().post(PATH, request(&app, &ada)).await.status(), 200);
}

#[tokio::test]
async fn an_invalid_client_is_rejected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let other = app.another_project().await;
    let project = app.project_id().to_string();
    let wrong = [
        ("client_id", "7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21".to_owned()),
        ("client_id", "nothing".to_owned()),
        ("client_id", format!("{project}#other")),
        ("client_secret", "pck_wrong".to_owned()),
        ("client_secret", other.client.expose_secret().to_owned()),
        ("client_secret", app.keys.server.expose_secret().to_owned()),
    ];
    for (name, value) in wrong {
        let body = request_with(&app, &ada, name, value.clone());
        let details = assert_error(&app.anonymous().post(PATH, body.clone()).await, 400, "INVALID_OAUTH_CLIENT_ID_OR_SECRET");
        assert_eq!(details["client_id"], body["client_id"], "{name} {value}");
    }
    let branch = request_with(&app, &ada, "client_id", format!("{project}#main"));
    assert_eq!(app.anonymous().post(PATH, branch).await.status(), 200);
}

#[tokio::test]
async fn unknown_foreign_and_expired_refresh_tokens_are_rejected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for token in ["", "x", &"0".repeat(45)] {
        let answer = app.anonymous().post(PATH, request_with(&app, &ada, "refresh_token", token)).await;
        assert_error(&answer, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
        assert_eq!(answer.header("cache-control"), Some("no-store, max-age=0"));
    }
    let other = app.another_project().await;
    let mut elsewhere = request_with(&app, &ada, "client_id", other.project_id.as_str());
    elsewhere["client_secret"] = json!(other.client.expose_secret());
    assert_error(&app.anonymous().post(PATH, elsewhere).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");

    let signed_out = app.sign_in("ada@example.com").await;
    app.signed_in(&signed_out).delete("/api/v1/auth/sessions/current").await;
    assert_error(&app.anonymous().post(PATH, request(&app, &signed_out)).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
    app.advance(SignedDuration::from_hours(30 * 24));
    assert_error(&app.anonymous().post(PATH, request(&app, &ada)).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test]
async fn a_deleted_user_gets_no_tokens() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    stored::delete_user(&app, &ada).await;
    assert_error(&app.anonymous().post(PATH, request(&app, &ada)).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test]
async fn unknown_fields_are_ignored_and_missing_ones_are_named() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let more = request_with(&app, &ada, "scope", "legacy");
    assert_eq!(app.anonymous().post(PATH, more).await.status(), 200);

    let named = problems(&app.anonymous().post(PATH, json!({ "grant_type": 7 })).await);
    for path in ["body.grant_type ", "body.client_id "] {
        assert!(named.iter().any(|problem| problem.starts_with(path)), "{path} in {named:?}");
    }
    let grant = json!({ "grant_type": "refresh_token", "client_id": app.project_id() });
    assert_eq!(problems(&app.anonymous().post(PATH, grant).await), ["body.refresh_token is required"]);
    let none = app.anonymous().request("POST", PATH).send().await;
    assert_error(&none, 400, "SCHEMA_ERROR");
}

/// The fields `error` and `error_description` of responses to OAuth clients.
fn oauth_error(answer: &Answer) -> (String, String) {
    let body = answer.json();
    assert_eq!(body["code"], answer.code(), "the body has the error code as well");
    ["error", "error_description"].map(|field| body[field].as_str().unwrap().to_owned()).into()
}

#[tokio::test]
async fn errors_also_have_the_form_of_rfc_6749() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let post = async |name: &str, value: Value| app.anonymous().post(PATH, request_with(&app, &ada, name, value)).await;
    for (answer, error, code) in [
        (post("grant_type", json!("password")).await, "unsupported_grant_type", "SCHEMA_ERROR"),
        (post("grant_type", json!(null)).await, "invalid_request", "SCHEMA_ERROR"),
        (post("refresh_token", json!(null)).await, "invalid_request", "SCHEMA_ERROR"),
        (post("client_id", json!("nothing")).await, "invalid_client", "INVALID_OAUTH_CLIENT_ID_OR_SECRET"),
        (post("client_secret", json!("pck_wrong")).await, "invalid_client", "INVALID_OAUTH_CLIENT_ID_OR_SECRET"),
        (post("refresh_token", json!("x")).await, "invalid_grant", "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED"),
        (
            app.anonymous().request("POST", PATH).body("{").header("content-type", "application/json").send().await,
            "invalid_request",
            "BODY_PARSING_ERROR",
        ),
        (app.anonymous().request("POST", PATH).send().await, "invalid_request", "SCHEMA_ERROR"),
        (
            app.client().with("x-stack-publishable-client-key", "pck_wrong").post(PATH, request(&app, &ada)).await,
            "invalid_client",
            "INVALID_PUBLISHABLE_CLIENT_KEY",
        ),
    ] {
        let (named, sentence) = oauth_error(&answer);
        assert_eq!((named.as_str(), answer.code().as_str()), (error, code), "{}", answer.text());
        let allowed = |c: char| matches!(c, ' '..='~') && c != '"' && c != '\\';
        assert!(!sentence.is_empty() && sentence.chars().all(allowed), "{sentence}");
        assert!(answer.header("cache-control").unwrap().starts_with("no-store"));
        assert!(answer.header("content-type").unwrap().starts_with("application/json"));
    }
    // In the responses of other operations, `error` is a sentence.
    let elsewhere = app.client().post("/api/v1/auth/password/sign-in", json!({})).await.json();
    assert!(elsewhere["error"].as_str().unwrap().contains(' ') && elsewhere["error_description"].is_null());
}

#[tokio::test]
async fn sdk_headers_are_accepted() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_mins(11));
    let expired = app.signed_in(&ada).without("x-stack-access-token");
    assert_eq!(expired.post(PATH, request(&app, &ada)).await.status(), 200);
}

#[tokio::test]
async fn access_headers_are_optional_but_must_be_valid() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let form = [("grant_type", "refresh_token"), ("client_id", app.project_id().as_str()), ("refresh_token", ada.refresh_token.as_str())];
    let send = |caller: support::Caller| async move { caller.request("POST", PATH).form(&form).send().await };
    assert_eq!(send(app.anonymous()).await.status(), 200);
    assert_eq!(send(app.client()).await.status(), 200);
    let wrong = send(app.client().with("x-stack-publishable-client-key", "pck_wrong")).await;
    assert_eq!((wrong.status(), wrong.code().as_str()), (401, "INVALID_PUBLISHABLE_CLIENT_KEY"));
}
