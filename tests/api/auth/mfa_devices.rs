//! Remembered devices: The field `remember_device` of `POST /api/v1/auth/mfa/sign-in`, the token in
//! later sign-ins, and `/api/v1/auth/mfa/devices`.

use jiff::SignedDuration;
use model::place::Place;
use model::project::second_factor::SecondFactorSettings;
use model::quota::Quota;
use model::user::device::{Device, DeviceToken};
use serde_json::{Value, json};
use store::user::device;
use support::{Answer, Caller, SignedInUser, TestApp};
use wire::id::UserId;

use super::account_notices::{link, notices, press};
use super::mfa_authenticators::{Phone, set_up};
use super::mfa_recovery_codes::codes;
use super::mfa_sign_in::attempt;
use super::oauth_callback::{ada as ada_at_provider, exchange_of, sign_in as sign_in_at_provider, start};
use super::{assert_error, assert_takes_client_access, oauth_code, problems};

const PATH: &str = "/api/v1/auth/mfa/devices";
const SIGN_IN: &str = "/api/v1/auth/mfa/sign-in";
const PASSWORD_SIGN_IN: &str = "/api/v1/auth/password/sign-in";
const HEADER: &str = "x-stack-device-token";
const ADA: &str = "ada@example.com";
const PASSWORD: &str = "correct horse battery";

async fn permit(app: &TestApp, days: u16) {
    app.configure(json!({ "config": { "second_factor": { "remember_device_days": days } } })).await;
}

/// A user with an app, in a project where devices are remembered for up to 30 days.
async fn world() -> (TestApp, SignedInUser, Phone) {
    let app = TestApp::start().await;
    permit(&app, 30).await;
    let ada = app.sign_up(ADA).await;
    let (phone, _) = set_up(&app, &ada).await;
    app.advance(SignedDuration::from_secs(30));
    (app, ada, phone)
}

async fn complete(app: &TestApp, attempt: &str, phone: &Phone) -> Answer {
    let body = json!({ "code": attempt, "type": "totp", "totp": phone.shows(app), "remember_device": true });
    app.client().post(SIGN_IN, body).await
}

/// Signs in with password and app, and returns the token of the device.
async fn remember(app: &TestApp, phone: &Phone) -> String {
    let answer = complete(app, &attempt(app, ADA).await, phone).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()["device_token"].as_str().unwrap().to_owned()
}

fn on(app: &TestApp, token: &str) -> Caller {
    app.client().with(HEADER, token)
}

async fn password(caller: &Caller) -> Answer {
    caller.post(PASSWORD_SIGN_IN, json!({ "email": ADA, "password": PASSWORD })).await
}

async fn is_remembered(app: &TestApp, token: &str) -> bool {
    let answer = password(&on(app, token)).await;
    match answer.status() {
        200 => true,
        _ => {
            assert_error(&answer, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
            false
        }
    }
}

async fn listed(app: &TestApp, user: &SignedInUser, token: &str) -> Vec<Value> {
    app.signed_in(user).with(HEADER, token).get(PATH).await.json()["items"].as_array().unwrap().clone()
}

/// Stores this many devices, as was possible in an earlier version without a quota.
async fn remember_many(app: &TestApp, user: &SignedInUser, count: usize) {
    let project = app.project_id();
    let row = app.app.store.user(project, UserId::parse(&user.user_id).unwrap()).await.unwrap().unwrap();
    let place: Place = serde_json::from_value(json!({ "ip": "203.0.113.7" })).unwrap();
    let settings = SecondFactorSettings { remember_device_days: 30, ..SecondFactorSettings::default() };
    for _ in 0..count {
        app.advance(SignedDuration::from_secs(1));
        let token = DeviceToken::draw(&app.app.entropy, app.now());
        let device = Device::remember(&row.user, &token, &settings, &place, app.now()).unwrap();
        app.app.store.write(device::create(project, &device).unwrap()).await.unwrap();
    }
}

#[tokio::test]
async fn all_devices_of_an_earlier_version_are_listed_newest_first() {
    let (app, ada, _) = world().await;
    remember_many(&app, &ada, 250).await;
    let devices = listed(&app, &ada, "").await;
    let times: Vec<i64> = devices.iter().map(|device| device["created_at_millis"].as_i64().unwrap()).collect();
    assert_eq!(times.len(), 250);
    assert!(times.is_sorted_by(|newer, older| newer > older));
}

/// The newest devices are kept, because devices from years ago must not block a sign-in.
#[tokio::test]
async fn a_user_has_50_remembered_devices_and_the_oldest_make_room() {
    let (app, ada, phone) = world().await;
    let first = remember(&app, &phone).await;
    remember_many(&app, &ada, Quota::Devices.max() + 3).await;
    assert!(is_remembered(&app, &first).await, "only a sign-in that remembers one makes room");
    let newest = remember(&app, &phone).await;
    assert_eq!(listed(&app, &ada, &newest).await.len(), Quota::Devices.max());
    assert!(is_remembered(&app, &newest).await);
    assert!(!is_remembered(&app, &first).await);
}

/// The second factor was proved when the device was remembered.
#[tokio::test]
async fn a_session_on_a_device_has_the_factors_that_a_project_requires() {
    let (app, _, phone) = world().await;
    let token = remember(&app, &phone).await;
    app.configure(json!({ "config": { "second_factor": { "required_of_everyone": true } } })).await;
    let signed_in = SignedInUser::of(ADA, &password(&on(&app, &token)).await.json());
    assert_eq!(app.signed_in(&signed_in).get("/api/v1/users/me").await.status(), 200);
}

#[tokio::test]
async fn a_device_replaces_the_second_factor_until_it_expires() {
    let (app, ada, phone) = world().await;
    let answer = complete(&app, &attempt(&app, ADA).await, &phone).await.json();
    let token = answer["device_token"].as_str().unwrap();
    let end = app.now().as_millisecond() + 30 * 86_400_000;
    assert_eq!(answer["device_expires_at_millis"], end);
    assert!(!format!("{:?}", app.table()).contains(&token[32..]), "the token is stored");
    assert!(is_remembered(&app, token).await);
    let devices = listed(&app, &ada, token).await;
    assert_eq!((devices.len(), &devices[0]["is_current_device"], &devices[0]["expires_at_millis"]), (1, &json!(true), &json!(end)));
    assert_eq!(listed(&app, &ada, "another").await[0]["is_current_device"], false);
    // Truncated, altered and extended tokens and other kinds of tokens do not replace the second
    // factor.
    let forged = format!("{}{}", &token[..32], "0".repeat(45));
    for other in ["", "nonsense", &forged, &token[..76], &format!("{token}0")] {
        assert!(!is_remembered(&app, other).await, "{other}");
    }
    app.advance(SignedDuration::from_hours(30 * 24) - SignedDuration::from_secs(1));
    assert!(is_remembered(&app, token).await);
    app.advance(SignedDuration::from_secs(1));
    assert!(!is_remembered(&app, token).await);
}

#[tokio::test]
async fn no_device_is_remembered_unless_the_project_and_the_client_ask() {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let (phone, _) = set_up(&app, &ada).await;
    app.advance(SignedDuration::from_secs(30));
    let answer = complete(&app, &attempt(&app, ADA).await, &phone).await.json();
    assert!(answer["access_token"].is_string() && answer.get("device_token").is_none());
    permit(&app, 30).await;
    app.advance(SignedDuration::from_secs(30));
    let body = json!({ "code": attempt(&app, ADA).await, "type": "totp", "totp": phone.shows(&app) });
    assert!(app.client().post(SIGN_IN, body).await.json().get("device_token").is_none());
    assert_eq!(listed(&app, &ada, "").await.len(), 0);

    app.advance(SignedDuration::from_secs(30));
    let token = remember(&app, &phone).await;
    permit(&app, 1).await;
    app.advance(SignedDuration::from_hours(24));
    assert!(!is_remembered(&app, &token).await, "a shorter time applies to devices that exist");
    permit(&app, 30).await;
    assert!(is_remembered(&app, &token).await);
    permit(&app, 0).await;
    assert!(!is_remembered(&app, &token).await);
    for days in [json!(91), json!(-1), json!("30")] {
        let refused = app
            .admin()
            .patch("/api/v1/internal/projects/current", json!({ "config": { "second_factor": { "remember_device_days": days } } }))
            .await;
        assert_eq!(refused.status(), 400, "{days}");
    }
}

#[tokio::test]
async fn every_way_to_sign_in_takes_a_remembered_device() {
    let (app, provider) = start().await;
    permit(&app, 30).await;
    app.configure(json!({ "config": { "magic_link_enabled": true, "passkey_enabled": true } })).await;
    let (user, _) = sign_in_at_provider(&app, &provider, ada_at_provider()).await;
    assert_eq!(app.signed_in(&user).post("/api/v1/auth/password/set", json!({ "password": PASSWORD })).await.status(), 200);
    let (phone, added) = set_up(&app, &user).await;
    app.advance(SignedDuration::from_secs(30));
    let token = remember(&app, &phone).await;
    let passkey = app.add_passkey(&user, 1).await;

    assert!(is_remembered(&app, &token).await);
    for header in [None, Some(&token)] {
        let caller = header.map_or(app.client(), |token| on(&app, token));
        let code = app.sign_in_code(ADA).await;
        let by_code = caller.post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await;
        let code = oauth_code::code(&app, &provider).await;
        let anonymous = header.map_or(app.anonymous(), |token| app.anonymous().with(HEADER, token));
        let by_provider = anonymous.post("/api/v1/auth/oauth/token", exchange_of(&app, &code)).await;
        let started = app.start_authentication().await;
        let body = json!({ "code": started.code, "authentication_response": passkey.assertion(&started.options) });
        let by_passkey = caller.post("/api/v1/auth/passkey/sign-in", body).await;
        for answer in [by_code, by_provider, by_passkey] {
            match header {
                Some(_) => assert_eq!(answer.status(), 200, "{}", answer.text()),
                None => drop(assert_error(&answer, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED")),
            }
        }
    }
    // A recovery code is also a second factor, so the device can be remembered.
    let recovery = added["recovery_codes"][0].as_str().unwrap();
    let body = json!({ "code": attempt(&app, ADA).await, "type": "recovery-code", "recovery_code": recovery, "remember_device": true });
    let recovered = app.client().post(SIGN_IN, body).await.json();
    assert!(is_remembered(&app, recovered["device_token"].as_str().unwrap()).await);
}

#[tokio::test]
async fn ending_sessions_and_changing_the_password_or_the_apps_forgets_devices() {
    type Change = fn(Caller, Value) -> futures_util::future::BoxFuture<'static, Answer>;
    let changes: [(&str, Change); 5] = [
        ("all sessions", |own, _| Box::pin(async move { own.request("DELETE", "/api/v1/auth/sessions").send().await })),
        ("the password", |own, _| {
            let body = json!({ "old_password": PASSWORD, "new_password": PASSWORD });
            Box::pin(async move { own.post("/api/v1/auth/password/update", body).await })
        }),
        ("another secret", |own, _| {
            Box::pin(async move { own.patch("/api/v1/users/me", json!({ "totp_secret_base64": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=" })).await })
        }),
        ("a new app", |own, _| Box::pin(async move { own.post("/api/v1/auth/mfa/authenticators", json!({})).await })),
        ("an app", |own, app| {
            let path = format!("/api/v1/auth/mfa/authenticators/{}", app["id"].as_str().unwrap());
            Box::pin(async move { own.request("DELETE", &path).send().await })
        }),
    ];
    for (name, change) in changes {
        let (app, ada, phone) = world().await;
        let (_, second) = set_up(&app, &ada).await;
        let token = remember(&app, &phone).await;
        assert!(is_remembered(&app, &token).await);
        let ada = SignedInUser { ..ada };
        if name == "a new app" {
            set_up(&app, &ada).await;
        } else {
            let answer = change(app.signed_in(&ada), second).await;
            assert!(answer.status() < 300, "{name}: {}", answer.text());
        }
        assert!(!is_remembered(&app, &token).await, "{name}");
        if name != "all sessions" && name != "the password" {
            assert_eq!(listed(&app, &ada, &token).await.len(), 0, "{name}");
        }
    }
}

#[tokio::test]
async fn the_link_in_a_notice_ends_the_remembered_devices() {
    let (app, ada, phone) = world().await;
    app.server().patch(&format!("/api/v1/users/{}", ada.user_id), json!({ "primary_email_verified": true })).await;
    app.advance(SignedDuration::from_secs(30));
    let token = remember(&app, &phone).await;
    codes(&app, &ada).await;
    let mails = notices(&app, ADA).await;
    press(&app, &link(mails.last().unwrap())).await;
    app.server().patch(&format!("/api/v1/users/{}", ada.user_id), json!({ "password": PASSWORD })).await;
    assert!(!is_remembered(&app, &token).await);
}

#[tokio::test]
async fn only_its_user_can_forget_a_device() {
    let (app, ada, phone) = world().await;
    let token = remember(&app, &phone).await;
    let bob = app.sign_up("bob@example.com").await;
    let id = listed(&app, &ada, &token).await[0]["id"].as_str().unwrap().to_owned();
    let path = format!("{PATH}/{id}");
    assert_error(&app.signed_in(&bob).request("DELETE", &path).send().await, 404, "DEVICE_NOT_FOUND");
    assert_eq!(listed(&app, &bob, &token).await.len(), 0);
    for (method, path) in [("GET", PATH), ("DELETE", &path)] {
        assert_takes_client_access(&app, method, path).await;
        assert_error(&app.server().request(method, path).send().await, 401, "USER_AUTHENTICATION_REQUIRED");
    }
    assert_eq!(problems(&app.signed_in(&ada).request("DELETE", &format!("{PATH}/x")).send().await).len(), 1);
    assert!(is_remembered(&app, &token).await);
    assert_eq!(app.signed_in(&ada).request("DELETE", &path).send().await.json(), json!({ "success": true }));
    assert_error(&app.signed_in(&ada).request("DELETE", &path).send().await, 404, "DEVICE_NOT_FOUND");
    assert!(!is_remembered(&app, &token).await);
    assert_eq!(listed(&app, &ada, &token).await.len(), 0);
}

#[tokio::test]
async fn the_device_of_one_user_replaces_no_factor_of_another() {
    let (app, _, phone) = world().await;
    let token = remember(&app, &phone).await;
    let bob = app.sign_up("bob@example.com").await;
    set_up(&app, &bob).await;
    let body = json!({ "email": "bob@example.com", "password": PASSWORD });
    assert_error(&on(&app, &token).post(PASSWORD_SIGN_IN, body).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
    // The token of a remembered device does not replace the password.
    let wrong = on(&app, &token).post(PASSWORD_SIGN_IN, json!({ "email": ADA, "password": "a wrong horse battery" })).await;
    assert_error(&wrong, 400, "EMAIL_PASSWORD_MISMATCH");
}

#[tokio::test]
async fn a_session_on_a_device_is_as_old_as_the_proof_of_the_device() {
    let (app, ada, phone) = world().await;
    app.configure(json!({ "config": { "reauthentication_max_age_seconds": 600 } })).await;
    let token = remember(&app, &phone).await;
    let id = listed(&app, &ada, &token).await[0]["id"].clone();
    app.advance(SignedDuration::from_mins(11));
    let answer = password(&on(&app, &token)).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let thief = SignedInUser::of(ADA, &answer.json());
    let own = app.signed_in(&thief);
    let removal = json!({ "totp_secret_base64": null });
    assert_error(&own.patch("/api/v1/users/me", removal.clone()).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_error(&own.post("/api/v1/auth/mfa/recovery-codes", json!({})).await, 403, "REAUTHENTICATION_REQUIRED");
    // The token of a remembered device does not reauthenticate a session.
    let proof = own.with(HEADER, &token).post("/api/v1/auth/sessions/current/reauthenticate", json!({ "device_token": token })).await;
    assert_eq!(problems(&proof).len(), 1);
    assert!(id.is_string());
    let totp = json!({ "totp": phone.shows(&app) });
    let proved = app.signed_in(&thief).post("/api/v1/auth/sessions/current/reauthenticate", totp).await;
    assert_eq!(proved.status(), 200, "{}", proved.text());
    assert_eq!(app.signed_in(&thief).patch("/api/v1/users/me", removal).await.status(), 200);
}

#[tokio::test]
async fn the_trail_tells_of_devices_and_a_deleted_user_leaves_none() {
    let (app, ada, phone) = world().await;
    let token = remember(&app, &phone).await;
    assert!(is_remembered(&app, &token).await);
    let id = listed(&app, &ada, &token).await[0]["id"].as_str().unwrap().to_owned();
    let other = {
        app.advance(SignedDuration::from_secs(30));
        remember(&app, &phone).await
    };
    app.signed_in(&ada).request("DELETE", &format!("{PATH}/{id}")).send().await;
    let trail = app.admin().get(&format!("/api/v1/internal/audit-log?user_id={}&limit=20", ada.user_id)).await;
    for event in ["device-remembered", "device-used", "device-forgotten"] {
        assert!(trail.text().contains(&format!("\"{event}\"")), "{event}: {}", trail.text());
    }
    assert!(!trail.text().contains(&token) && !trail.text().contains(&other));
    assert!(format!("{:?}", app.table()).contains("DEVICE#"));
    assert_eq!(app.server().request("DELETE", &format!("/api/v1/users/{}", ada.user_id)).send().await.status(), 200);
    assert!(!format!("{:?}", app.table()).contains("DEVICE#"));
}
