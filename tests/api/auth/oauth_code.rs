//! The authorization code that an app exchanges for tokens (RFC 6749 §4.1.2, RFC 7636 §4.6).

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::TestApp;

use super::mfa_authenticators::set_up;
use super::oauth_callback::{REDIRECT_URI, TOKEN, ada, exchange, exchange_of, flow, parameter, start};
use super::{assert_error, mfa_sign_in, problems};

pub(crate) async fn code(app: &TestApp, provider: &support::provider::Provider) -> String {
    parameter(&flow(app, provider, ada(), &[]).await, "code")
}

async fn exchange_with(app: &TestApp, code: &str, name: &str, value: Value) -> support::Answer {
    let mut body = exchange_of(app, code);
    body[name] = value;
    app.anonymous().post(TOKEN, body).await
}

#[tokio::test]
async fn a_code_is_bound_to_its_challenge_redirect_and_project() {
    let (app, provider) = start().await;
    let code = code(&app, &provider).await;
    let other = app.another_project().await;
    for (name, value, error) in [
        ("code_verifier", json!("x".repeat(43)), "INVALID_AUTHORIZATION_CODE"),
        ("code_verifier", json!("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"), "INVALID_AUTHORIZATION_CODE"),
        ("client_id", json!(other.project_id), "INVALID_AUTHORIZATION_CODE"),
        ("client_secret", json!("pck_wrong"), "INVALID_OAUTH_CLIENT_ID_OR_SECRET"),
        ("code", json!(format!("{}{}", &code[..32], "0".repeat(32))), "INVALID_AUTHORIZATION_CODE"),
        ("code", json!("nonsense"), "INVALID_AUTHORIZATION_CODE"),
    ] {
        assert_error(&exchange_with(&app, &code, name, value).await, 400, error);
    }
    // The failed attempts have not invalidated the code.
    assert_eq!(exchange_with(&app, &code, "redirect_uri", json!(format!("{REDIRECT_URI}#fragment"))).await.status(), 200);
}

#[tokio::test]
async fn a_code_sent_with_another_redirect_is_invalidated() {
    let (app, provider) = start().await;
    let other = json!("http://localhost:3000/other");
    let astray = code(&app, &provider).await;
    assert_error(&exchange_with(&app, &astray, "redirect_uri", other.clone()).await, 400, "INVALID_AUTHORIZATION_CODE");
    assert_error(&exchange(&app, &astray).await, 400, "INVALID_AUTHORIZATION_CODE");

    // A redeemed code is remembered. Using it again ends its session, even after failed attempts.
    let redeemed = code(&app, &provider).await;
    let tokens = exchange(&app, &redeemed).await.json();
    assert_error(&exchange_with(&app, &redeemed, "redirect_uri", other).await, 400, "INVALID_AUTHORIZATION_CODE");
    assert_error(&exchange(&app, &redeemed).await, 400, "INVALID_AUTHORIZATION_CODE");
    let refresh = json!({ "grant_type": "refresh_token", "client_id": app.project_id(), "refresh_token": tokens["refresh_token"] });
    assert_error(&app.anonymous().post(TOKEN, refresh).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test]
async fn a_reused_code_ends_the_session_it_started() {
    let (app, provider) = start().await;
    let code = code(&app, &provider).await;
    let tokens = exchange(&app, &code).await.json();
    let refresh = json!({ "grant_type": "refresh_token", "client_id": app.project_id(), "refresh_token": tokens["refresh_token"] });
    assert_eq!(app.anonymous().post(TOKEN, refresh.clone()).await.status(), 200);
    // A second use without the verifier does not prove theft.
    assert_error(&exchange_with(&app, &code, "code_verifier", json!("x".repeat(43))).await, 400, "INVALID_AUTHORIZATION_CODE");
    assert_eq!(app.anonymous().post(TOKEN, refresh.clone()).await.status(), 200);
    assert_error(&exchange(&app, &code).await, 400, "INVALID_AUTHORIZATION_CODE");
    assert_error(&app.anonymous().post(TOKEN, refresh).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test]
async fn of_concurrent_exchanges_of_a_code_one_succeeds() {
    let (app, provider) = start().await;
    let code = code(&app, &provider).await;
    let answers = futures_util::future::join_all((0..20).map(|_| exchange(&app, &code))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.status() == 400).count(), 19);
    let users = app.server().get("/api/v1/users").await.json();
    let id = users["items"][0]["id"].as_str().unwrap();
    let sessions = app.server().get(&format!("/api/v1/auth/sessions?user_id={id}")).await.json();
    assert_eq!(sessions["items"], json!([]), "a code used twice leaves no session");
}

#[tokio::test]
async fn a_code_expires_after_five_minutes_or_with_its_user() {
    let (app, provider) = start().await;
    let late = code(&app, &provider).await;
    app.advance(SignedDuration::from_mins(5));
    assert_error(&exchange(&app, &late).await, 400, "INVALID_AUTHORIZATION_CODE");
    let orphan = code(&app, &provider).await;
    let users = app.server().get("/api/v1/users").await.json();
    app.server().delete(&format!("/api/v1/users/{}", users["items"][0]["id"].as_str().unwrap())).await;
    assert_error(&exchange(&app, &orphan).await, 400, "INVALID_AUTHORIZATION_CODE");
}

#[tokio::test]
async fn the_fields_of_the_grant_are_required() {
    let (app, _) = start().await;
    for name in ["code", "redirect_uri", "code_verifier"] {
        let mut body = exchange_of(&app, "x");
        body.as_object_mut().unwrap().remove(name);
        assert_eq!(problems(&app.anonymous().post(TOKEN, body).await), [format!("body.{name} is required")]);
    }
}

#[tokio::test]
async fn a_second_factor_is_required() {
    let (app, provider) = start().await;
    let (user, _) = super::oauth_callback::sign_in(&app, &provider, ada()).await;
    let secret = json!({ "totp_secret_base64": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=" });
    assert_eq!(app.signed_in(&user).patch("/api/v1/users/me", secret).await.status(), 200);
    let code = code(&app, &provider).await;
    let details = assert_error(&exchange(&app, &code).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
    assert_eq!(details["attempt_code"].as_str().unwrap().len(), 45);
    assert_error(&exchange(&app, &code).await, 400, "INVALID_AUTHORIZATION_CODE");
    let attempt = json!({ "type": "totp", "code": details["attempt_code"], "totp": "000000" });
    assert_error(&app.client().post("/api/v1/auth/mfa/sign-in", attempt).await, 400, "INVALID_TOTP_CODE");
}

/// The redeemed code contains the id of the session, although the session starts only with the
/// second factor.
#[tokio::test]
async fn a_reused_code_ends_the_session_of_its_second_factor() {
    let (app, provider) = start().await;
    let (user, _) = super::oauth_callback::sign_in(&app, &provider, ada()).await;
    let (phone, _) = set_up(&app, &user).await;
    app.advance(SignedDuration::from_secs(30));
    let code = code(&app, &provider).await;
    let details = assert_error(&exchange(&app, &code).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
    let completed = mfa_sign_in::sign_in(&app, details["attempt_code"].as_str().unwrap(), &phone.shows(&app)).await;
    assert_eq!(completed.status(), 200, "{}", completed.text());
    let session = support::SignedInUser::of("ada@example.com", &completed.json());
    assert_eq!(app.signed_in(&session).get("/api/v1/users/me").await.status(), 200);
    assert_error(&exchange(&app, &code).await, 400, "INVALID_AUTHORIZATION_CODE");
    assert_error(&app.signed_in(&session).get("/api/v1/users/me").await, 401, "ACCESS_TOKEN_EXPIRED");
    assert_eq!(app.signed_in(&user).get("/api/v1/users/me").await.status(), 200, "other sessions stay");
}

/// The item of the code contains the provider's tokens only until the code is redeemed.
#[tokio::test]
async fn a_redeemed_code_keeps_no_tokens_of_the_provider() {
    let (app, provider) = start().await;
    let user = app.sign_up("ada@home.example").await;
    let link = [("type", "link"), ("token", user.access_token.as_str())];
    let code = parameter(&flow(&app, &provider, ada(), &link).await, "code");
    let keeps = |app: &TestApp| app.table().values().any(|item| item["d"]["M"]["pending"]["M"]["tokens"].is_object());
    assert!(keeps(&app));
    assert_eq!(exchange(&app, &code).await.status(), 200);
    assert!(!keeps(&app));
}
