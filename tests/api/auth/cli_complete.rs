//! `POST /api/v1/auth/cli/complete`.

use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::authenticator::{Page, SoftPasskey};
use support::{Answer, SignedInUser, TestApp};

use super::cli_create::{anonymous, start};
use super::cli_poll::{fetch, poll, status};
use super::mfa_sign_in::user_with_app;
use super::{assert_error, assert_takes_client_access};

const PATH: &str = "/api/v1/auth/cli/complete";
const ME: &str = "/api/v1/users/me";

pub(super) async fn complete(app: &TestApp, login_code: &str, refresh_token: &str) -> Answer {
    app.client().post(PATH, json!({ "login_code": login_code, "mode": "complete", "refresh_token": refresh_token })).await
}

async fn in_mode(app: &TestApp, login_code: &str, mode: &str) -> Answer {
    app.client().post(PATH, json!({ "login_code": login_code, "mode": mode })).await
}

async fn check(app: &TestApp, login_code: &str) -> Value {
    let answer = in_mode(app, login_code, "check").await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

#[tokio::test]
async fn a_check_says_where_and_when_the_tool_began_and_changes_nothing() {
    let app = TestApp::start().await;
    assert_takes_client_access(&app, "POST", PATH).await;
    let (polling, login) = start(&app, json!({})).await;
    let before = app.table();
    let checked = check(&app, &login).await;
    assert_eq!(checked["cli_session_state"], "none");
    assert_eq!(checked["created_at_millis"], app.now().as_millisecond());
    assert!(checked["place"]["ip"].is_string(), "{checked}");
    assert_eq!(app.table(), before);
    assert_eq!(status(&app, &polling).await, "waiting");
}

#[tokio::test]
async fn a_login_code_confirms_once_in_its_project_until_it_expires() {
    let app = TestApp::start().await;
    let (ada, eve) = (app.sign_up("ada@example.com").await, app.sign_up("eve@example.com").await);
    let (polling, login) = start(&app, json!({})).await;
    let other = app.another_project().await;
    for mode in ["check", "complete", "claim-anon-session", "deny"] {
        let body = json!({ "login_code": login, "mode": mode, "refresh_token": ada.refresh_token });
        assert_error(&app.client_of(&other).post(PATH, body).await, 400, "INVALID_LOGIN_CODE");
        for wrong in [polling.as_str(), "", &"0".repeat(45)] {
            let body = json!({ "login_code": wrong, "mode": mode, "refresh_token": ada.refresh_token });
            assert_error(&app.client().post(PATH, body).await, 400, "INVALID_LOGIN_CODE");
        }
    }
    assert_eq!(complete(&app, &login, &ada.refresh_token).await.status(), 200);
    assert_error(&complete(&app, &login, &eve.refresh_token).await, 400, "INVALID_LOGIN_CODE");
    assert_error(&in_mode(&app, &login, "check").await, 400, "INVALID_LOGIN_CODE");
    let tool = fetch(&app, &polling).await;
    assert_eq!(app.signed_in(&tool).get(ME).await.json()["id"], json!(ada.user_id), "the first confirmation counts");
    assert_error(&complete(&app, &login, &ada.refresh_token).await, 400, "INVALID_LOGIN_CODE");

    let (_, late) = start(&app, json!({ "expires_in_millis": 30_000 })).await;
    app.advance(SignedDuration::from_secs(30));
    assert_error(&complete(&app, &late, &ada.refresh_token).await, 400, "INVALID_LOGIN_CODE");
}

#[tokio::test]
async fn only_a_live_refresh_token_of_the_project_confirms() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let (polling, login) = start(&app, json!({})).await;
    assert_error(&in_mode(&app, &login, "complete").await, 400, "SCHEMA_ERROR");
    for wrong in ["", "no token", &ada.access_token] {
        assert_error(&complete(&app, &login, wrong).await, 400, "INVALID_REFRESH_TOKEN");
    }
    let access_token_alone = app.signed_in(&ada).post(PATH, json!({ "login_code": login })).await;
    assert_error(&access_token_alone, 400, "SCHEMA_ERROR");
    app.signed_in(&ada).delete("/api/v1/auth/sessions/current").await;
    assert_error(&complete(&app, &login, &ada.refresh_token).await, 400, "INVALID_REFRESH_TOKEN");
    assert_eq!(status(&app, &polling).await, "waiting");
}

#[tokio::test]
async fn a_user_restricted_by_an_administrator_confirms_nothing() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let restrict = json!({ "restricted_by_admin": true, "restricted_by_admin_reason": "spam" });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", ada.user_id), restrict).await.status(), 200);
    let (polling, login) = start(&app, json!({})).await;
    assert_error(&complete(&app, &login, &ada.refresh_token).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    assert_eq!(status(&app, &polling).await, "waiting");
}

#[tokio::test]
async fn the_first_factor_alone_confirms_nothing() {
    let app = TestApp::start().await;
    user_with_app(&app, "ada@example.com").await;
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    let first = app.client().post("/api/v1/auth/password/sign-in", body).await;
    let attempt = assert_error(&first, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED")["attempt_code"].as_str().unwrap().to_owned();
    let (polling, login) = start(&app, json!({})).await;
    assert_error(&complete(&app, &login, &attempt).await, 400, "INVALID_REFRESH_TOKEN");
    assert_eq!(status(&app, &polling).await, "waiting");
}

#[tokio::test]
async fn a_refused_sign_in_has_expired_for_the_tool() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let (polling, login) = start(&app, json!({})).await;
    assert_eq!(in_mode(&app, &login, "deny").await.json(), json!({ "success": true }));
    assert_eq!(status(&app, &polling).await, "expired");
    assert_error(&complete(&app, &login, &ada.refresh_token).await, 400, "INVALID_LOGIN_CODE");
}

#[tokio::test]
async fn a_browser_takes_over_the_anonymous_user_of_the_tool_and_signs_up() {
    let app = TestApp::start().await;
    let nobody = anonymous(&app).await;
    let (polling, login) = start(&app, json!({ "anon_refresh_token": nobody["refresh_token"] })).await;
    assert_eq!(check(&app, &login).await["cli_session_state"], "anonymous");
    let claimed = in_mode(&app, &login, "claim-anon-session").await;
    assert_eq!(claimed.status(), 200, "{}", claimed.text());
    let browser = SignedInUser::of("", &claimed.json());
    assert_eq!(json!(browser.user_id), nobody["user_id"]);
    assert_error(&in_mode(&app, &login, "claim-anon-session").await, 400, "NO_ANONYMOUS_SESSION");
    assert_eq!(check(&app, &login).await["cli_session_state"], "none");

    let sign_up = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    let upgraded =
        app.signed_in(&browser).with("x-stack-allow-anonymous-user", "true").post("/api/v1/auth/password/sign-up", sign_up).await;
    assert_eq!(upgraded.json()["user_id"], nobody["user_id"], "{}", upgraded.text());
    let refresh_token = upgraded.json()["refresh_token"].as_str().unwrap().to_owned();
    assert_eq!(complete(&app, &login, &refresh_token).await.status(), 200);
    let tool = fetch(&app, &polling).await;
    assert_eq!(app.signed_in(&tool).get(ME).await.json()["id"], nobody["user_id"]);
}

#[tokio::test]
async fn a_stranger_keeps_no_session_of_an_anonymous_user_who_was_taken_over() {
    let app = TestApp::start().await;
    let nobody = anonymous(&app).await;
    let (_, first) = start(&app, json!({ "anon_refresh_token": nobody["refresh_token"] })).await;
    let (_, second) = start(&app, json!({ "anon_refresh_token": nobody["refresh_token"] })).await;
    let kept = in_mode(&app, &first, "claim-anon-session").await.json();
    // The second sign-in was attached to the session that the takeover ended.
    assert_error(&in_mode(&app, &second, "claim-anon-session").await, 400, "NO_ANONYMOUS_SESSION");
    let old = SignedInUser::of("", &nobody);
    let me = app.signed_in(&old).with("x-stack-allow-anonymous-user", "true").get(ME).await;
    assert_eq!(me.status(), 401, "{}", me.text());

    let (_, third) = start(&app, json!({ "anon_refresh_token": kept["refresh_token"] })).await;
    assert_eq!(in_mode(&app, &third, "claim-anon-session").await.status(), 200);
    let stranger = SignedInUser::of("", &kept);
    assert_eq!(app.signed_in(&stranger).with("x-stack-allow-anonymous-user", "true").get(ME).await.status(), 401);
}

#[tokio::test]
async fn a_stranger_keeps_no_credential_of_an_anonymous_user_who_was_taken_over() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    app.configure(json!({ "config": { "anonymous_creation_enabled": true } })).await;
    let nobody = SignedInUser::of("", &anonymous(&app).await);
    let stranger = || app.signed_in(&nobody).with("x-stack-allow-anonymous-user", "true");
    let started = stranger().post("/api/v1/auth/passkey/initiate-passkey-registration", json!({})).await.json();
    let passkey = SoftPasskey::create(&started["options_json"], Page::default(), 1);
    let registration = json!({ "code": started["code"], "credential": passkey.registration(&started["options_json"]) });
    assert_eq!(stranger().post("/api/v1/auth/passkey/register", registration).await.status(), 200);
    let channel = json!({ "user_id": "me", "value": "eve@example.com", "type": "email", "used_for_auth": true });
    assert_eq!(stranger().post("/api/v1/contact-channels", channel).await.status(), 201);

    let (_, login) = start(&app, json!({ "anon_refresh_token": nobody.refresh_token })).await;
    let browser = SignedInUser::of("", &in_mode(&app, &login, "claim-anon-session").await.json());
    assert_error(&app.sign_in_with(&passkey).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    let me = app.signed_in(&browser).with("x-stack-allow-anonymous-user", "true").get(ME).await.json();
    assert_eq!((&me["id"], &me["passkey_auth_enabled"]), (&json!(nobody.user_id), &json!(false)), "{me}");
    let channels = app.server().get(&format!("/api/v1/contact-channels?user_id={}", nobody.user_id)).await.json();
    assert_eq!(channels["items"], json!([]));
    app.sign_up("eve@example.com").await;
}

#[tokio::test]
async fn an_anonymous_user_who_has_signed_up_cannot_be_taken_over() {
    let app = TestApp::start().await;
    let nobody = anonymous(&app).await;
    let (_, login) = start(&app, json!({ "anon_refresh_token": nobody["refresh_token"] })).await;
    let caller = app.signed_in(&SignedInUser::of("", &nobody)).with("x-stack-allow-anonymous-user", "true");
    let sign_up = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    assert_eq!(caller.post("/api/v1/auth/password/sign-up", sign_up).await.status(), 200);
    assert_eq!(check(&app, &login).await["cli_session_state"], "none");
    // The sign-up ended the tool's session.
    assert_error(&in_mode(&app, &login, "claim-anon-session").await, 400, "NO_ANONYMOUS_SESSION");

    let nobody = anonymous(&app).await;
    let (_, login) = start(&app, json!({ "anon_refresh_token": nobody["refresh_token"] })).await;
    let path = format!("/api/v1/users/{}", nobody["user_id"].as_str().unwrap());
    assert_eq!(app.server().patch(&path, json!({ "is_anonymous": false })).await.status(), 200);
    assert_eq!(check(&app, &login).await["cli_session_state"], "none");
    assert_error(&in_mode(&app, &login, "claim-anon-session").await, 400, "CLI_SESSION_NOT_ANONYMOUS");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_confirmations_and_refusals_one_counts() {
    let app = TestApp::start().await;
    let (ada, eve) = (app.sign_up("ada@example.com").await, app.sign_up("eve@example.com").await);
    for _ in 0..10 {
        let (polling, login) = start(&app, json!({})).await;
        let (by_ada, by_eve, denied) = tokio::join!(
            complete(&app, &login, &ada.refresh_token),
            complete(&app, &login, &eve.refresh_token),
            in_mode(&app, &login, "deny")
        );
        let outcomes = [by_ada.status(), by_eve.status(), denied.status()];
        assert_eq!(outcomes.iter().filter(|status| **status == 200).count(), 1, "{outcomes:?}");
        match outcomes {
            [_, _, 200] => assert_eq!(status(&app, &polling).await, "expired"),
            [200, ..] => assert_eq!(app.signed_in(&fetch(&app, &polling).await).get(ME).await.json()["id"], json!(ada.user_id)),
            _ => assert_eq!(app.signed_in(&fetch(&app, &polling).await).get(ME).await.json()["id"], json!(eve.user_id)),
        }
    }
}

#[tokio::test]
async fn guesses_at_login_codes_are_limited() {
    let app = TestApp::start_with(Limits::off().with(Rule::Code, Some(Rate::new(5, 600)))).await;
    let (polling, login) = start(&app, json!({})).await;
    for guess in 0..4 {
        assert_error(&in_mode(&app, &format!("{guess:045}"), "check").await, 400, "INVALID_LOGIN_CODE");
    }
    assert_error(&in_mode(&app, &login, "deny").await, 429, "RATE_LIMITED");
    assert_eq!(poll(&app, &polling).await.json()["status"], "waiting");
}
