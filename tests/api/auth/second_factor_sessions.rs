//! A required second factor in sessions that start with a passkey, that a server, a tool or a
//! device creates, or that are taken to another domain. Machines do not need a second factor.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::authenticator::{Ceremony, PRESENT, Page, SoftPasskey};
use support::{Answer, SignedInUser, TestApp};

use super::assert_error;
use super::cli_complete::complete;
use super::cli_create::start;
use super::cli_poll::{fetch, status};
use super::machine_tokens::{machine, server, token};
use super::mfa_sign_in::claims;
use super::oauth_callback::exchange;
use super::oauth_cross_domain::code;
use super::oauth_device_authorize;
use super::second_factor_required::{enrol, reason, reason_of, refreshed, require, restricted};

const ADA: &str = "ada@example.com";
const AUTHENTICATORS: &str = "/api/v1/auth/mfa/authenticators";
const PASSKEY_START: &str = "/api/v1/auth/passkey/initiate-passkey-registration";

/// A project that requires a second factor of all users, and accepts a passkey with user
/// verification as both factors.
async fn project() -> TestApp {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "passkey_enabled": true, "passkey_replaces_second_factor": true } })).await;
    require(&app, json!({ "required_of_everyone": true })).await;
    app
}

/// Registers a passkey, as restricted users may. The passkey's responses have these flags, or the
/// default flags if `flags` is `None`.
async fn add_passkey(app: &TestApp, user: &SignedInUser, flags: Option<u8>) -> SoftPasskey {
    let Ceremony { options, code } = Ceremony::of(&restricted(app, user).post(PASSKEY_START, json!({})).await);
    let passkey = SoftPasskey::create(&options, Page::default(), 1);
    let passkey = SoftPasskey { flags: flags.unwrap_or(passkey.flags), ..passkey };
    let body = json!({ "code": code, "credential": passkey.registration(&options) });
    let answer = restricted(app, user).post("/api/v1/auth/passkey/register", body).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    app.advance(SignedDuration::from_secs(1));
    passkey
}

async fn passkey_session(app: &TestApp, passkey: &SoftPasskey) -> SignedInUser {
    let answer = app.sign_in_with(passkey).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    SignedInUser::of(ADA, &answer.json())
}

async fn reauthenticate(app: &TestApp, user: &SignedInUser, body: Value) -> Answer {
    restricted(app, user).post("/api/v1/auth/sessions/current/reauthenticate", body).await
}

/// Reauthenticates a session with a passkey.
async fn prove(app: &TestApp, user: &SignedInUser, passkey: &SoftPasskey) {
    let started = app.start_authentication().await;
    let given = json!({ "code": started.code, "authentication_response": passkey.assertion(&started.options) });
    let answer = reauthenticate(app, user, json!({ "passkey": given })).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
}

#[tokio::test]
async fn a_verified_passkey_counts_as_both_factors_where_it_was_used() {
    let app = project().await;
    let ada = app.sign_up(ADA).await;
    assert_eq!(reason_of(&app, &ada).await, reason());
    let mut passkey = add_passkey(&app, &ada, None).await;
    assert_eq!(reason_of(&app, &ada).await, Value::Null, "the registration proved the passkey");
    assert_eq!(refreshed(&app, &ada).await["is_restricted"], false);
    let user = app.server().get(&format!("/api/v1/users/{}", ada.user_id)).await.json();
    assert_eq!(user["is_restricted"], false);

    let by_passkey = app.sign_in_with(&passkey).await.json();
    assert_eq!(claims(&by_passkey["access_token"])["is_restricted"], false);
    let by_passkey = SignedInUser::of(ADA, &by_passkey);
    assert_eq!(app.signed_in(&by_passkey).get("/api/v1/users/me").await.status(), 200);
    // After a sign-in with one factor, the same user is restricted.
    let by_password = app.sign_in(ADA).await;
    assert_eq!(claims(&json!(by_password.access_token))["restricted_reason"], reason());
    assert_eq!(reason_of(&app, &by_password).await, reason());
    let details = assert_error(&app.signed_in(&by_password).get("/api/v1/users/me").await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    assert_eq!(details["restricted_reason"], reason());
    passkey.flags = PRESENT;
    assert_eq!(reason_of(&app, &passkey_session(&app, &passkey).await).await, reason());
    assert_eq!(reason_of(&app, &by_passkey).await, Value::Null);

    app.configure(json!({ "config": { "passkey_replaces_second_factor": false } })).await;
    assert_eq!(reason_of(&app, &by_passkey).await, reason());
    app.configure(json!({ "config": { "passkey_replaces_second_factor": true } })).await;
    assert_eq!(reason_of(&app, &by_passkey).await, Value::Null);
    // Without the passkey, both sessions are restricted. Without the requirement, no session is
    // restricted.
    assert_eq!(app.signed_in(&by_passkey).patch("/api/v1/users/me", json!({ "passkey_auth_enabled": false })).await.status(), 200);
    assert_eq!((reason_of(&app, &by_passkey).await, reason_of(&app, &by_password).await), (reason(), reason()));
    require(&app, json!({ "required_of_everyone": false })).await;
    assert_eq!((reason_of(&app, &by_passkey).await, reason_of(&app, &by_password).await), (Value::Null, Value::Null));
}

#[tokio::test]
async fn a_session_with_only_the_password_adds_no_factor_to_a_passkey_account() {
    let app = project().await;
    let ada = app.sign_up(ADA).await;
    let passkey = add_passkey(&app, &ada, None).await;
    let thief = app.sign_in(ADA).await;
    let own = restricted(&app, &thief);
    for (path, body) in [
        (AUTHENTICATORS, json!({})),
        (PASSKEY_START, json!({})),
        ("/api/v1/auth/password/update", json!({ "old_password": "correct horse battery", "new_password": "a new horse battery" })),
    ] {
        assert_error(&own.post(path, body).await, 403, "REAUTHENTICATION_REQUIRED");
    }
    let secret = json!({ "totp_secret_base64": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=" });
    assert_error(&own.patch("/api/v1/users/me", secret.clone()).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_eq!(reauthenticate(&app, &thief, json!({ "password": "correct horse battery" })).await.status(), 200);
    assert_eq!(reason_of(&app, &thief).await, reason(), "the password is one factor, however often it is proved");
    assert_error(&own.patch("/api/v1/users/me", secret.clone()).await, 403, "REAUTHENTICATION_REQUIRED");
    // Once the session has proved the passkey, a later proof of a single factor changes nothing.
    prove(&app, &thief, &passkey).await;
    assert_eq!(reason_of(&app, &thief).await, Value::Null);
    assert_eq!(reauthenticate(&app, &thief, json!({ "password": "correct horse battery" })).await.status(), 200);
    assert_eq!(reason_of(&app, &thief).await, Value::Null);
    assert_eq!(app.signed_in(&thief).patch("/api/v1/users/me", secret).await.status(), 200);
}

#[tokio::test]
async fn a_passkey_that_did_not_verify_its_user_is_one_factor() {
    let app = project().await;
    let ada = app.sign_up(ADA).await;
    let key = add_passkey(&app, &ada, Some(PRESENT)).await;
    assert_eq!(reason_of(&app, &ada).await, reason());
    assert_eq!(reason_of(&app, &passkey_session(&app, &key).await).await, reason());
    // If the user has an authenticator app, no session is restricted, and the passkey requires a
    // second factor.
    enrol(&app, &ada).await;
    assert_eq!(reason_of(&app, &ada).await, Value::Null);
    assert_error(&app.sign_in_with(&key).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
}

#[tokio::test]
async fn a_session_has_as_many_factors_on_another_domain() {
    let app = project().await;
    let ada = app.sign_up(ADA).await;
    let passkey = add_passkey(&app, &ada, None).await;
    let by_passkey = passkey_session(&app, &passkey).await;
    let there = exchange(&app, &code(&app, &by_passkey).await).await.json();
    assert_eq!(claims(&there["access_token"])["is_restricted"], false);
    // The exchange also records the teams that have started to require a second factor since the
    // sign-in.
    require(&app, json!({ "required_of_everyone": false })).await;
    let bob = app.sign_up("bob@example.com").await;
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Engines" })).await.json()["id"].clone();
    let path = format!("/api/v1/team-memberships/{}/{}", team.as_str().unwrap(), bob.user_id);
    assert_eq!(app.server().post(&path, json!({})).await.status(), 201);
    require(&app, json!({ "required_of_teams": [team] })).await;
    let there = exchange(&app, &code(&app, &bob).await).await.json();
    assert_eq!(claims(&there["access_token"])["restricted_reason"], reason());
    assert_eq!(reason_of(&app, &bob).await, reason());
}

#[tokio::test]
async fn a_tool_gets_the_session_of_a_user_with_both_factors_only() {
    let app = project().await;
    let ada = app.sign_up(ADA).await;
    let (polling, login) = start(&app, json!({})).await;
    let details = assert_error(&complete(&app, &login, &ada.refresh_token).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    assert_eq!(details, json!({ "restricted_reason": reason() }));
    assert_eq!(status(&app, &polling).await, "waiting");
    let passkey = add_passkey(&app, &ada, None).await;
    let by_password = app.sign_in(ADA).await;
    assert_error(&complete(&app, &login, &by_password.refresh_token).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    let by_passkey = passkey_session(&app, &passkey).await;
    assert_eq!(complete(&app, &login, &by_passkey.refresh_token).await.status(), 200);
    let tool = fetch(&app, &polling).await;
    assert_eq!(app.signed_in(&tool).get("/api/v1/users/me").await.json()["id"], json!(ada.user_id));

    // If the confirming session counts as only one factor at the time of the poll, the tool does
    // not get a session.
    let (polling, login) = start(&app, json!({})).await;
    assert_eq!(complete(&app, &login, &by_passkey.refresh_token).await.status(), 200);
    app.configure(json!({ "config": { "passkey_replaces_second_factor": false } })).await;
    assert_eq!(status(&app, &polling).await, "expired");
}

#[tokio::test]
async fn a_device_learns_that_a_team_requires_a_second_factor() {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let started = oauth_device_authorize::start(&app).await;
    let login = started["user_code"].as_str().unwrap();
    assert_eq!(complete(&app, login, &ada.refresh_token).await.status(), 200);
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Engines" })).await.json()["id"].clone();
    let path = format!("/api/v1/team-memberships/{}/{}", team.as_str().unwrap(), ada.user_id);
    assert_eq!(app.server().post(&path, json!({})).await.status(), 201);
    require(&app, json!({ "required_of_teams": [team] })).await;
    let tokens = oauth_device_authorize::poll(&app, &started).await.json();
    assert_eq!(claims(&tokens["access_token"])["restricted_reason"], reason());
}

#[tokio::test]
async fn machines_and_sessions_that_a_server_creates_need_no_second_factor() {
    let app = project().await;
    let ada = app.sign_up(ADA).await;
    let (_, key) = machine(&app, json!(["users:read"])).await;
    let access = token(&app, &key).await;
    let path = format!("/api/v1/users/{}", ada.user_id);
    assert_eq!(server(&app, &access).get(&path).await.status(), 200);

    add_passkey(&app, &ada, None).await;
    let created = app.server().post("/api/v1/auth/sessions", json!({ "user_id": ada.user_id })).await.json();
    assert_eq!(claims(&created["access_token"])["is_restricted"], false);
    // A session that a server creates counts as proof of a second factor only if its user has a
    // second factor. A user without a second factor is restricted until one is set up.
    let bob = app.sign_up("bob@example.com").await;
    let created = app.server().post("/api/v1/auth/sessions", json!({ "user_id": bob.user_id })).await.json();
    assert_eq!(claims(&created["access_token"])["restricted_reason"], reason());
}

#[tokio::test]
async fn a_session_that_owes_a_factor_reads_but_changes_nothing() {
    let app = project().await;
    let ada = app.sign_up(ADA).await;
    let passkey = add_passkey(&app, &ada, None).await;
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Looms", "creator_user_id": ada.user_id })).await;
    let team = team.json()["id"].as_str().unwrap().to_owned();
    let thief = app.sign_in(ADA).await;
    let own = restricted(&app, &thief);
    assert_eq!(own.get("/api/v1/teams?user_id=me").await.json()["items"].as_array().map(Vec::len), Some(1));
    let invite = json!({ "team_id": team, "email": "thief@example.com", "callback_url": "http://localhost:3000/join" });
    let answers = [
        own.post("/api/v1/team-invitations/send-code", invite.clone()).await,
        own.delete(&format!("/api/v1/team-memberships/{team}/{}", ada.user_id)).await,
        own.delete(&format!("/api/v1/teams/{team}")).await,
        own.patch("/api/v1/users/me", json!({ "display_name": "Thief" })).await,
        own.post("/api/v1/connected-accounts/me/github/access-token", json!({})).await,
    ];
    for answer in answers {
        assert_error(&answer, 403, "REAUTHENTICATION_REQUIRED");
    }
    prove(&app, &thief, &passkey).await;
    assert_eq!(app.signed_in(&thief).post("/api/v1/team-invitations/send-code", invite).await.status(), 200);
}

#[tokio::test]
async fn an_unverified_address_does_not_hide_that_a_session_owes_a_factor() {
    let app = project().await;
    let ada = app.sign_up(ADA).await;
    let passkey = add_passkey(&app, &ada, None).await;
    app.configure(json!({ "config": { "require_email_verification": true } })).await;
    let thief = app.sign_in(ADA).await;
    for path in [AUTHENTICATORS, PASSKEY_START] {
        assert_error(&restricted(&app, &thief).post(path, json!({})).await, 403, "REAUTHENTICATION_REQUIRED");
    }
    prove(&app, &thief, &passkey).await;
    assert_eq!(restricted(&app, &thief).post(AUTHENTICATORS, json!({})).await.status(), 201);
}

#[tokio::test]
async fn a_session_that_owes_a_factor_does_not_get_in_the_way_of_another_sign_in() {
    let app = project().await;
    app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
    let ada = app.sign_up(ADA).await;
    add_passkey(&app, &ada, None).await;
    let owing = restricted(&app, &app.sign_in(ADA).await);
    let body = json!({ "email": "bob@example.com", "password": "correct horse battery" });
    assert_eq!(owing.post("/api/v1/auth/password/sign-up", body).await.status(), 200);
    let code = app.sign_in_code("eve@example.com").await;
    assert_eq!(owing.post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await.status(), 200);
    let verify = json!({ "email": ADA, "callback_url": "http://localhost:3000/verify" });
    assert_eq!(owing.post("/api/v1/contact-channels/send-verification-code", verify).await.status(), 200);
}
