//! A thief steals a session soon after the sign-in that started it. The thief adds a credential and
//! reauthenticates with it, to keep the session's proof recent. The thief then tries to remove the
//! owner's second factor.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{Answer, SignedInUser, TestApp, authenticator_code};

use super::{NEW, PASSWORD, added, password_sign_in, verification_code, verify};
use crate::auth::assert_error;
use crate::stored;

const ADA: &str = "ada@example.com";
const EVE: &str = "eve@example.com";
const ME: &str = "/api/v1/users/me";
const OWNERS: &[u8] = b"12345678901234567890";
const OWNERS_SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=";
const THIEFS: &[u8] = b"12345678901234567891";
const THIEFS_SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTE=";
const DAY: SignedDuration = SignedDuration::from_hours(24);
const TICK: SignedDuration = SignedDuration::from_secs(1);

/// A project that requires reauthentication after a day.
async fn start() -> TestApp {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "reauthentication_max_age_seconds": DAY.as_secs() } })).await;
    app
}

async fn prove(app: &TestApp, user: &SignedInUser, body: Value) -> Answer {
    app.signed_in(user).post("/api/v1/auth/sessions/current/reauthenticate", body).await
}

async fn prove_by_app(app: &TestApp, user: &SignedInUser, secret: &[u8]) -> Answer {
    prove(app, user, json!({ "totp": authenticator_code(secret, app.now().as_second()) })).await
}

async fn set_app(app: &TestApp, user: &SignedInUser, secret: Value) -> Answer {
    app.signed_in(user).patch(ME, json!({ "totp_secret_base64": secret })).await
}

/// Advances the clock, and refreshes the session to get a current access token.
async fn later(app: &TestApp, user: &SignedInUser, time: SignedDuration) -> SignedInUser {
    app.advance(time);
    let refresh = app.client().with("x-stack-refresh-token", &user.refresh_token);
    let answer = refresh.post("/api/v1/auth/sessions/current/refresh", json!({})).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    SignedInUser { access_token: answer.json()["access_token"].as_str().unwrap().to_owned(), ..user.clone() }
}

/// Signs in with a password, and an authenticator app as the second factor.
async fn sign_in_with_app(app: &TestApp, first: Answer, secret: &[u8]) -> SignedInUser {
    let details = assert_error(&first, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
    let totp = authenticator_code(secret, app.now().as_second());
    let body = json!({ "code": details["attempt_code"], "type": "totp", "totp": totp });
    SignedInUser::of(ADA, &app.client().post("/api/v1/auth/mfa/sign-in", body).await.json())
}

#[track_caller]
fn assert_refused(answer: &Answer) {
    assert_error(answer, 403, "REAUTHENTICATION_REQUIRED");
}

#[tokio::test]
async fn a_stolen_session_cannot_replace_the_owner_s_authenticator_app() {
    let app = start().await;
    let ada = app.sign_up(ADA).await;
    assert_eq!(set_app(&app, &ada, json!(OWNERS_SECRET)).await.status(), 200);
    app.advance(SignedDuration::from_mins(5));
    let table = app.table();
    for secret in [json!(THIEFS_SECRET), json!(OWNERS_SECRET), Value::Null] {
        assert_refused(&set_app(&app, &ada, secret).await);
    }
    assert_eq!(app.table(), table);
    let owner = sign_in_with_app(&app, password_sign_in(&app, ADA, PASSWORD).await, OWNERS).await;
    assert_eq!(set_app(&app, &owner, json!(THIEFS_SECRET)).await.status(), 200, "the owner has just signed in");
}

#[tokio::test]
async fn a_server_can_replace_an_authenticator_app_at_any_time() {
    let app = start().await;
    let ada = app.sign_up(ADA).await;
    assert_eq!(set_app(&app, &ada, json!(OWNERS_SECRET)).await.status(), 200);
    app.advance(SignedDuration::from_mins(5));
    let server = app.server().with("x-stack-access-token", &ada.access_token);
    assert_eq!(server.patch(ME, json!({ "totp_secret_base64": THIEFS_SECRET })).await.status(), 200);
}

#[tokio::test]
async fn an_app_set_by_a_stolen_session_does_not_reauthenticate_it() {
    let app = start().await;
    let ada = app.sign_up(ADA).await;
    app.advance(TICK);
    // The user does not have an authenticator app yet, so the session may set one up, and replace
    // it within minutes.
    for secret in [OWNERS_SECRET, THIEFS_SECRET] {
        assert_eq!(set_app(&app, &ada, json!(secret)).await.status(), 200);
    }
    let thief = later(&app, &ada, SignedDuration::from_mins(6)).await;
    let table = app.table();
    assert_refused(&prove_by_app(&app, &thief, THIEFS).await);
    // A correct code from the replaced app and a code from the new app get the same error, and
    // neither attempt is counted.
    assert_refused(&prove_by_app(&app, &thief, OWNERS).await);
    assert_refused(&set_app(&app, &thief, Value::Null).await);
    assert_eq!(app.table(), table);

    // Someone who knows the password can reauthenticate with it and, from then on, with the app.
    assert_eq!(prove(&app, &thief, json!({ "password": PASSWORD })).await.status(), 200);
    app.advance(TICK);
    assert_eq!(prove_by_app(&app, &thief, THIEFS).await.status(), 200);
    assert_eq!(set_app(&app, &thief, Value::Null).await.status(), 200);
}

#[tokio::test]
async fn an_app_reauthenticates_the_sessions_that_it_started() {
    let app = start().await;
    let ada = app.sign_up(ADA).await;
    app.advance(TICK);
    assert_eq!(set_app(&app, &ada, json!(OWNERS_SECRET)).await.status(), 200);
    app.advance(TICK);
    let laptop = sign_in_with_app(&app, password_sign_in(&app, ADA, PASSWORD).await, OWNERS).await;
    let laptop = later(&app, &laptop, DAY).await;
    assert_refused(&set_app(&app, &laptop, Value::Null).await);
    assert_eq!(prove_by_app(&app, &laptop, OWNERS).await.status(), 200);
    assert_eq!(set_app(&app, &laptop, Value::Null).await.status(), 200);
}

#[tokio::test]
async fn a_password_set_by_a_stolen_session_does_not_reauthenticate_it() {
    let app = start().await;
    let ada = app.sign_in_by_mail(ADA).await;
    app.advance(TICK);
    let own = app.signed_in(&ada);
    assert_eq!(own.post("/api/v1/auth/password/set", json!({ "password": PASSWORD })).await.status(), 200);
    assert_refused(&prove(&app, &ada, json!({ "password": PASSWORD })).await);
    // Setting a password later does not reauthenticate the session, because setting it required
    // only the first password.
    app.advance(TICK);
    let update = json!({ "old_password": PASSWORD, "new_password": NEW });
    assert_eq!(own.post("/api/v1/auth/password/update", update).await.status(), 200);
    let thief = later(&app, &ada, DAY).await;
    let table = app.table();
    assert_refused(&prove(&app, &thief, json!({ "password": NEW })).await);
    assert_refused(&set_app(&app, &thief, json!(THIEFS_SECRET)).await);
    assert_eq!(app.table(), table);

    // The password reauthenticates the sessions that were started with it.
    let phone = SignedInUser::of(ADA, &password_sign_in(&app, ADA, NEW).await.json());
    let phone = later(&app, &phone, DAY).await;
    assert_eq!(prove(&app, &phone, json!({ "password": NEW })).await.status(), 200);
}

#[tokio::test]
async fn a_password_changed_by_its_owner_still_reauthenticates() {
    let app = start().await;
    let ada = app.sign_up(ADA).await;
    app.advance(TICK);
    let update = json!({ "old_password": PASSWORD, "new_password": NEW });
    assert_eq!(app.signed_in(&ada).post("/api/v1/auth/password/update", update).await.status(), 200);
    let ada = later(&app, &ada, DAY).await;
    assert_eq!(prove(&app, &ada, json!({ "password": NEW })).await.status(), 200);
}

#[tokio::test]
async fn an_address_added_by_a_stolen_session_does_not_reauthenticate_it() {
    for is_proved in [true, false] {
        let app = start().await;
        let ada = if is_proved { app.sign_in_by_mail(ADA).await } else { app.sign_up(ADA).await };
        app.advance(TICK);
        let channel = added(&app, &ada, EVE).await;
        assert_eq!(verify(&app, &verification_code(&app, &ada, &channel, EVE).await).await.status(), 200);
        let thief = later(&app, &ada, DAY).await;
        let code = app.sign_in_code(EVE).await;
        assert_refused(&prove(&app, &thief, json!({ "code": code })).await);
        assert_refused(&set_app(&app, &thief, json!(THIEFS_SECRET)).await);
        if is_proved {
            let code = app.sign_in_code(ADA).await;
            assert_eq!(prove(&app, &thief, json!({ "code": code })).await.status(), 200);
        }
    }
}

#[tokio::test]
async fn credentials_of_an_earlier_version_still_reauthenticate() {
    let app = start().await;
    let ada = app.sign_in_by_mail(ADA).await;
    app.advance(TICK);
    let own = app.signed_in(&ada);
    assert_eq!(own.post("/api/v1/auth/password/set", json!({ "password": PASSWORD })).await.status(), 200);
    assert_eq!(set_app(&app, &ada, json!(OWNERS_SECRET)).await.status(), 200);
    stored::change_user(&app, &ada, |user| {
        user.first_password_at = None;
        user.totp.as_mut().unwrap().first.set_at = None;
    })
    .await;
    assert_eq!(prove_by_app(&app, &ada, OWNERS).await.status(), 200);
    assert_eq!(prove(&app, &ada, json!({ "password": PASSWORD })).await.status(), 200);
}
