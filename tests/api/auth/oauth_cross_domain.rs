//! `POST /api/v1/auth/oauth/cross-domain/authorize`, which takes a session to another domain.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{Answer, Caller, SignedInUser, TestApp};
use url::Url;

use super::oauth_callback::{REDIRECT_URI, TOKEN, exchange, exchange_of, parameter};
use super::{assert_error, opens_own_data, problems};

const PATH: &str = "/api/v1/auth/oauth/cross-domain/authorize";
/// The challenge for the verifier of [`exchange_of`] (RFC 7636, appendix B).
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const INVALID: &str = "INVALID_AUTHORIZATION_CODE";

fn body() -> Value {
    json!({ "redirect_uri": REDIRECT_URI, "state": "of b", "code_challenge": CHALLENGE, "after_callback_redirect_url": "http://localhost:3000/there" })
}

fn body_with(name: &str, value: Value) -> Value {
    let mut body = body();
    body[name] = value;
    body
}

async fn authorize(caller: &Caller, body: Value) -> Url {
    let answer = caller.post(PATH, body).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()["redirect_url"].as_str().unwrap().parse().unwrap()
}

/// A code that takes the user's session to the other domain.
pub(super) async fn code(app: &TestApp, user: &SignedInUser) -> String {
    parameter(&authorize(&app.signed_in(user), body()).await, "code")
}

async fn refresh(app: &TestApp, token: &str) -> Answer {
    app.client().with("x-stack-refresh-token", token).request("POST", "/api/v1/auth/sessions/current/refresh").send().await
}

async fn sessions(app: &TestApp, user: &SignedInUser) -> usize {
    let listed = app.server().get(&format!("/api/v1/auth/sessions?user_id={}", user.user_id)).await.json();
    listed["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn the_same_session_continues_on_the_other_domain() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let url =
        authorize(&app.signed_in(&ada), body_with("redirect_uri", json!(format!("{REDIRECT_URI}?hexclave_cross_domain_auth=1&x=a%20b#f"))))
            .await;
    assert!(url.as_str().starts_with(REDIRECT_URI) && url.fragment().is_none() && parameter(&url, "state") == "of b", "{url}");
    // The app on the other domain sends its URL, without code and state, as the redirect URI.
    let mut own = url.clone();
    let rest: Vec<_> = url.query_pairs().filter(|(name, _)| !["code", "state"].contains(&name.as_ref())).collect();
    own.query_pairs_mut().clear().extend_pairs(rest);
    let mut wanted = exchange_of(&app, &parameter(&url, "code"));
    wanted["redirect_uri"] = own.as_str().into();
    let answer = app.anonymous().post(TOKEN, wanted).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let tokens = answer.json();
    assert_eq!((&tokens["refresh_token"], &tokens["is_new_user"]), (&json!(ada.refresh_token), &json!(false)));
    assert_eq!(tokens["after_callback_redirect_url"], "http://localhost:3000/there");
    let there = SignedInUser { access_token: tokens["access_token"].as_str().unwrap().to_owned(), ..ada.clone() };
    assert!(opens_own_data(&app, &there).await && sessions(&app, &ada).await == 1);
    // Signing out on either domain ends the session on both.
    assert_eq!(app.signed_in(&there).delete("/api/v1/auth/sessions/current").await.status(), 200);
    assert!(!opens_own_data(&app, &ada).await);
    assert_error(&refresh(&app, &ada.refresh_token).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test]
async fn the_second_factor_is_not_asked_again() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let secret = json!({ "totp_secret_base64": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=" });
    assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", secret).await.status(), 200);
    let tokens = exchange(&app, &code(&app, &ada).await).await;
    assert_eq!((tokens.status(), &tokens.json()["refresh_token"]), (200, &json!(ada.refresh_token)));
}

#[tokio::test]
async fn the_access_and_refresh_token_must_be_of_the_same_session() {
    let app = TestApp::start().await;
    let (ada, eve) = (app.sign_up("ada@example.com").await, app.sign_up("eve@example.com").await);
    let again = app.sign_in("ada@example.com").await;
    let with = |token: &str| app.signed_in(&ada).with("x-stack-refresh-token", token);
    assert_error(&app.client().post(PATH, body()).await, 401, "USER_AUTHENTICATION_REQUIRED");
    let refresh_alone = app.client().with("x-stack-refresh-token", &ada.refresh_token);
    assert_error(&refresh_alone.post(PATH, body()).await, 401, "USER_AUTHENTICATION_REQUIRED");
    let access_alone = app.signed_in(&ada).without("x-stack-refresh-token").post(PATH, body()).await;
    assert_eq!(problems(&access_alone), ["headers.x-service-refresh-token is required"]);
    // The tokens of another user and of another session of the same user, and a token that was
    // never issued.
    for token in [&eve.refresh_token, &again.refresh_token, &"x".repeat(45)] {
        assert_error(&with(token).post(PATH, body()).await, 401, "CROSS_DOMAIN_SESSION_MISMATCH");
    }
    let other = app.another_project().await;
    let stranger = app.client_of(&other).with("x-stack-access-token", &ada.access_token).with("x-stack-refresh-token", &ada.refresh_token);
    assert_error(&stranger.post(PATH, body()).await, 401, "INVALID_PROJECT_FOR_ACCESS_TOKEN");
    assert_eq!(app.signed_in(&ada).delete("/api/v1/auth/sessions/current").await.status(), 200);
    assert_error(&with(&ada.refresh_token).post(PATH, body()).await, 401, "ACCESS_TOKEN_EXPIRED");
    assert!(app.table().keys().all(|key| key.1 != "CODE"));
}

#[tokio::test]
async fn only_trusted_urls_and_sound_challenges_are_accepted() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "domains": [{ "domain": "https://b.example" }] } })).await;
    let ada = app.signed_in(&app.sign_up("ada@example.com").await);
    authorize(&ada, body_with("redirect_uri", json!("https://b.example/handler/oauth-callback"))).await;
    for name in ["redirect_uri", "after_callback_redirect_url"] {
        for url in ["https://evil.example/x", "https://b.example.evil.example/x", "https://b.example@evil.example/x"] {
            assert_error(&ada.post(PATH, body_with(name, json!(url))).await, 400, "REDIRECT_URL_NOT_WHITELISTED");
        }
    }
    for (name, value) in [
        ("state", json!("")),
        ("state", json!("x".repeat(513))),
        ("code_challenge", json!("x".repeat(42))),
        ("code_challenge", json!("!".repeat(43))),
        ("code_challenge_method", json!("plain")),
        ("unknown", json!(1)),
    ] {
        assert_error(&ada.post(PATH, body_with(name, value)).await, 400, "SCHEMA_ERROR");
    }
}

#[tokio::test]
async fn a_code_is_bound_to_its_verifier_redirect_and_project() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let own = code(&app, &ada).await;
    let other = app.another_project().await;
    for (name, value) in [("code_verifier", json!("x".repeat(43))), ("client_id", json!(other.project_id))] {
        let mut wrong = exchange_of(&app, &own);
        wrong[name] = value;
        assert_error(&app.anonymous().post(TOKEN, wrong).await, 400, INVALID);
    }
    let mut astray = exchange_of(&app, &own);
    astray["redirect_uri"] = json!("http://localhost:3000/elsewhere");
    assert_error(&app.anonymous().post(TOKEN, astray).await, 400, INVALID);
    assert_error(&exchange(&app, &own).await, 400, INVALID);
    let late = code(&app, &ada).await;
    app.advance(SignedDuration::from_mins(5));
    assert_error(&exchange(&app, &late).await, 400, INVALID);
}

/// The service that the SDK was made for would start a new session here, but Gatelet rejects the
/// code.
#[tokio::test]
async fn a_code_ends_with_its_session_or_its_user_s_credentials() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let signed_out = code(&app, &ada).await;
    assert_eq!(app.signed_in(&ada).delete("/api/v1/auth/sessions/current").await.status(), 200);
    assert_error(&exchange(&app, &signed_out).await, 400, INVALID);

    let ada = app.sign_in("ada@example.com").await;
    let everywhere = code(&app, &ada).await;
    assert_eq!(app.server().delete(&format!("/api/v1/auth/sessions?user_id={}", ada.user_id)).await.status(), 200);
    assert_error(&exchange(&app, &everywhere).await, 400, INVALID);

    let ada = app.sign_in("ada@example.com").await;
    let changed = code(&app, &ada).await;
    let password = json!({ "old_password": "correct horse battery", "new_password": "another horse battery" });
    assert_eq!(app.signed_in(&ada).post("/api/v1/auth/password/update", password).await.status(), 200);
    assert_error(&exchange(&app, &changed).await, 400, INVALID);

    let orphan = code(&app, &ada).await;
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", ada.user_id)).await.status(), 200);
    assert_error(&exchange(&app, &orphan).await, 400, INVALID);
}

#[tokio::test]
async fn a_code_redeemed_again_ends_the_session() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let own = code(&app, &ada).await;
    assert_eq!(exchange(&app, &own).await.status(), 200);
    // Nobody can end the session without the verifier.
    let mut guess = exchange_of(&app, &own);
    guess["code_verifier"] = json!("x".repeat(43));
    assert_error(&app.anonymous().post(TOKEN, guess).await, 400, INVALID);
    assert_eq!(refresh(&app, &ada.refresh_token).await.status(), 200);
    assert_error(&exchange(&app, &own).await, 400, INVALID);
    assert_error(&refresh(&app, &ada.refresh_token).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_exchanges_of_a_handed_over_session_one_succeeds() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let own = code(&app, &ada).await;
    let answers = futures_util::future::join_all((0..20).map(|_| exchange(&app, &own))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), 1);
    assert!(answers.iter().all(|answer| [200, 400].contains(&answer.status())));
}

/// The refresh token is stored only in sealed form, and only until the code is redeemed.
#[tokio::test]
async fn the_refresh_token_is_never_stored_readable() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let own = code(&app, &ada).await;
    let sealed = |app: &TestApp| app.table().values().any(|item| item["d"]["M"]["handed_over"]["M"]["refresh_token"].is_object());
    assert!(sealed(&app) && app.table().values().all(|item| !item.to_string().contains(&ada.refresh_token)));
    assert_eq!(exchange(&app, &own).await.status(), 200);
    assert!(!sealed(&app));
}
