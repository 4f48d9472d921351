//! A passkey as the second factor, which is proved with: `POST /api/v1/auth/mfa/sign-in` with the
//! type `passkey`.

use futures_util::future::join_all;
use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::authenticator::{Ceremony, PRESENT, SoftPasskey};
use support::{Answer, SignedInUser, TestApp};

use super::mfa_sign_in::{attempt, now_code, sign_in as totp_sign_in, user_with_app};
use super::{assert_error, opens_own_data, problems};

const PATH: &str = "/api/v1/auth/mfa/sign-in";
const ADA: &str = "ada@example.com";
const PASSWORD: &str = "correct horse battery";

async fn world() -> (TestApp, SignedInUser, SoftPasskey) {
    world_of(TestApp::start().await).await
}

async fn world_of(app: TestApp) -> (TestApp, SignedInUser, SoftPasskey) {
    app.offer_passkeys().await;
    let ada = user_with_app(&app, ADA).await;
    let passkey = app.add_passkey(&ada, 1).await;
    app.advance(SignedDuration::from_secs(1));
    (app, ada, passkey)
}

async fn send(app: &TestApp, attempt: &str, code: &str, response: &Value) -> Answer {
    let passkey = json!({ "code": code, "authentication_response": response });
    app.client().post(PATH, json!({ "code": attempt, "type": "passkey", "passkey": passkey })).await
}

/// Completes a sign-in with a passkey.
pub(super) async fn complete(app: &TestApp, attempt: &str, passkey: &SoftPasskey) -> Answer {
    let Ceremony { options, code } = app.start_second_factor(attempt).await;
    send(app, attempt, &code, &passkey.assertion(&options)).await
}

#[tokio::test]
async fn a_password_and_a_passkey_sign_in_once() {
    let (app, ada, passkey) = world().await;
    let waiting = attempt(&app, ADA).await;
    // The order of entries of the same millisecond is not defined.
    app.advance(jiff::SignedDuration::from_secs(1));
    let Ceremony { options, code } = app.start_second_factor(&waiting).await;
    let response = passkey.assertion(&options);
    let answer = send(&app, &waiting, &code, &response).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert_eq!((&answer.json()["user_id"], &answer.json()["is_new_user"]), (&json!(ada.user_id), &json!(false)));
    let again = SignedInUser::of(ADA, &answer.json());
    assert!(opens_own_data(&app, &again).await);
    let log = app.admin().get(&format!("/api/v1/internal/audit-log?user_id={}", ada.user_id)).await.json();
    let entry = &log["items"][0];
    assert_eq!((&entry["events"], &entry["method"]), (&json!(["sign-in"]), &json!(["pwd", "pop", "mfa"])));
    let used = app.signed_in(&again).get("/api/v1/passkeys?user_id=me").await.json();
    assert_eq!(used["items"][0]["last_used_at_millis"], app.now().as_millisecond());

    assert_error(&send(&app, &waiting, &code, &response).await, 409, "VERIFICATION_CODE_ALREADY_USED");
    assert_error(&totp_sign_in(&app, &waiting, &now_code(&app)).await, 409, "VERIFICATION_CODE_ALREADY_USED");
    let next = attempt(&app, ADA).await;
    assert_error(&send(&app, &next, &code, &response).await, 409, "VERIFICATION_CODE_ALREADY_USED");
}

#[tokio::test]
async fn a_challenge_is_for_one_sign_in_only() {
    let (app, ada, passkey) = world().await;
    let (waiting, other) = (attempt(&app, ADA).await, attempt(&app, ADA).await);
    let bound = app.start_second_factor(&waiting).await;
    let response = passkey.assertion(&bound.options);
    assert_error(&send(&app, &other, &bound.code, &response).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_error(&app.send_assertion(&bound.code, &response).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    let proof = json!({ "passkey": { "code": bound.code, "authentication_response": response } });
    let renewed = app.signed_in(&ada).post("/api/v1/auth/sessions/current/reauthenticate", proof).await;
    assert_error(&renewed, 404, "VERIFICATION_CODE_NOT_FOUND");
    let unbound = app.start_authentication().await;
    let first_factor = passkey.assertion(&unbound.options);
    assert_error(&send(&app, &waiting, &unbound.code, &first_factor).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_error(&send(&app, &waiting, &bound.code, &first_factor).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    assert_eq!(send(&app, &waiting, &bound.code, &response).await.status(), 200);
}

#[tokio::test]
async fn the_passkey_must_be_one_of_the_user_of_the_sign_in() {
    let (app, _, passkey) = world().await;
    let eve = app.sign_up("eve@example.com").await;
    let hers = app.add_passkey(&eve, 2).await;
    let waiting = attempt(&app, ADA).await;
    let Ceremony { options, code } = app.start_second_factor(&waiting).await;
    for forged in [
        hers.clone(),
        SoftPasskey { user_handle: passkey.user_handle.clone(), ..hers.clone() },
        SoftPasskey { credential_id: passkey.credential_id.clone(), user_handle: passkey.user_handle.clone(), ..hers.clone() },
        SoftPasskey { user_handle: hers.user_handle.clone(), ..passkey.clone() },
    ] {
        assert_error(&send(&app, &waiting, &code, &forged.assertion(&options)).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    }
    assert_eq!(send(&app, &waiting, &code, &passkey.assertion(&options)).await.status(), 200, "a wrong passkey does not end the sign-in");
}

#[tokio::test]
async fn a_response_without_a_user_handle_is_of_the_known_user() {
    let (app, ada, passkey) = world().await;
    let eve = app.sign_up("eve@example.com").await;
    let hers = app.add_passkey(&eve, 2).await;
    for handle in [None, Some(Value::Null)] {
        let without = |mut response: Value| {
            let fields = response["response"].as_object_mut().unwrap();
            fields.remove("userHandle");
            fields.extend(handle.clone().map(|null| ("userHandle".to_owned(), null)));
            response
        };
        let waiting = attempt(&app, ADA).await;
        let Ceremony { options, code } = app.start_second_factor(&waiting).await;
        assert_error(&send(&app, &waiting, &code, &without(hers.assertion(&options))).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
        let answer = send(&app, &waiting, &code, &without(passkey.assertion(&options))).await;
        assert_eq!((answer.status(), &answer.json()["user_id"]), (200, &json!(ada.user_id)), "{handle:?}: {}", answer.text());

        // Only a session that was started after the passkey was added can be renewed with it.
        let session = SignedInUser::of(ADA, &answer.json());
        let started = app.start_authentication().await;
        let renew = async |response: Value| {
            let proof = json!({ "passkey": { "code": started.code, "authentication_response": without(response) } });
            app.signed_in(&session).post("/api/v1/auth/sessions/current/reauthenticate", proof).await
        };
        assert_error(&renew(hers.assertion(&started.options)).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
        let renewed = renew(passkey.assertion(&started.options)).await;
        assert_eq!(renewed.status(), 200, "{handle:?}: {}", renewed.text());
        // At a sign-in, the user is unknown until the passkey's response is received.
        let unknown = app.start_authentication().await;
        let refused = app.send_assertion(&unknown.code, &without(passkey.assertion(&unknown.options))).await;
        assert_error(&refused, 400, "PASSKEY_AUTHENTICATION_FAILED");
    }
}

#[tokio::test]
async fn one_passkey_is_not_both_factors() {
    let (app, _, mut passkey) = world().await;
    for flags in [passkey.flags, PRESENT] {
        passkey.flags = flags;
        let details = assert_error(&app.sign_in_with(&passkey).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
        assert_eq!(details["factors"], json!(["totp"]));
        let waiting = details["attempt_code"].as_str().unwrap();
        let refused = assert_error(&complete(&app, waiting, &passkey).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
        assert_eq!(refused["message"], "a passkey was the first factor of this sign-in: send a code instead");
        assert_eq!(totp_sign_in(&app, waiting, &now_code(&app)).await.status(), 200);
        app.advance(SignedDuration::from_secs(30));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_concurrent_responses_one_signs_in() {
    let (app, ada, mut passkey) = world().await;
    passkey.sign_count = 7;
    let sessions = async || app.signed_in(&ada).get("/api/v1/auth/sessions").await.json()["items"].as_array().unwrap().len();
    let before = sessions().await;
    let waiting = attempt(&app, ADA).await;
    let Ceremony { options, code } = app.start_second_factor(&waiting).await;
    let response = passkey.assertion(&options);
    // The attempt permits twenty tries.
    let answers = join_all((0..20).map(|_| send(&app, &waiting, &code, &response))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), 1);
    for refused in answers.iter().filter(|answer| answer.status() != 200) {
        let is_expected = refused.code() == "VERIFICATION_CODE_ALREADY_USED" || refused.code() == "SERVICE_UNAVAILABLE";
        assert!(is_expected, "{}", refused.text());
    }
    assert_eq!(sessions().await, before + 1);
    let passkeys = app.signed_in(&ada).get("/api/v1/passkeys?user_id=me").await.json();
    assert_eq!(passkeys["items"][0]["clone_suspected"], false, "a replay is not reported as a copy of the passkey");
}

#[tokio::test]
async fn whatever_ends_a_waiting_sign_in_ends_it_for_passkeys() {
    let (app, ada, passkey) = world().await;
    let waiting = attempt(&app, ADA).await;
    let Ceremony { options, code } = app.start_second_factor(&waiting).await;
    let response = passkey.assertion(&options);
    let other = app.another_project().await;
    let body = json!({ "code": waiting, "type": "passkey", "passkey": { "code": code, "authentication_response": response } });
    assert_error(&app.client_of(&other).post(PATH, body).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    let path = format!("/api/v1/users/{}", ada.user_id);
    assert_eq!(app.server().patch(&path, json!({ "password": PASSWORD })).await.status(), 200);
    assert_error(&send(&app, &waiting, &code, &response).await, 404, "VERIFICATION_CODE_NOT_FOUND");

    let expired = attempt(&app, ADA).await;
    app.advance(SignedDuration::from_mins(5));
    assert_error(&complete(&app, &expired, &passkey).await, 400, "VERIFICATION_CODE_EXPIRED");
    let late = attempt(&app, ADA).await;
    let started = app.start_second_factor(&late).await;
    app.advance(SignedDuration::from_secs(65));
    assert_error(&send(&app, &late, &started.code, &passkey.assertion(&started.options)).await, 400, "VERIFICATION_CODE_EXPIRED");
    let removed = attempt(&app, ADA).await;
    let started = app.start_second_factor(&removed).await;
    app.server().patch(&path, json!({ "passkey_auth_enabled": false })).await;
    let answer = send(&app, &removed, &started.code, &passkey.assertion(&started.options)).await;
    assert!(["VERIFICATION_CODE_NOT_FOUND", "PASSKEY_AUTHENTICATION_FAILED"].contains(&answer.code().as_str()), "{}", answer.text());
}

#[tokio::test]
async fn the_settings_of_passkeys_apply() {
    let (app, _, mut passkey) = world().await;
    app.configure(json!({ "config": { "passkey_user_verification": "required" } })).await;
    passkey.flags = PRESENT;
    let waiting = attempt(&app, ADA).await;
    assert_error(&complete(&app, &waiting, &passkey).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    app.configure(json!({ "config": { "passkey_user_verification": "preferred" } })).await;
    let started = app.start_second_factor(&waiting).await;
    app.configure(json!({ "config": { "passkey_enabled": false } })).await;
    let response = passkey.assertion(&started.options);
    assert_error(&send(&app, &waiting, &started.code, &response).await, 400, "PASSKEY_AUTHENTICATION_NOT_ENABLED");
    let body = json!({ "email": ADA, "password": PASSWORD });
    let asked = app.client().post("/api/v1/auth/password/sign-in", body).await;
    assert_eq!(assert_error(&asked, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED")["factors"], json!(["totp"]));
    app.offer_passkeys().await;
    assert_eq!(send(&app, &waiting, &started.code, &response).await.status(), 200);
}

#[tokio::test]
async fn guessed_codes_do_not_lock_out_the_owner_of_a_passkey() {
    let limits = Limits::off().with(Rule::SignInFailures, Some(Rate::new(10, 600)));
    let (app, _, passkey) = world_of(TestApp::start_with(limits).await).await;
    let waiting = attempt(&app, ADA).await;
    for _ in 0..10 {
        assert_error(&totp_sign_in(&app, &waiting, "nonsense").await, 400, "INVALID_TOTP_CODE");
    }
    assert_error(&totp_sign_in(&app, &waiting, &now_code(&app)).await, 429, "RATE_LIMITED");
    assert_eq!(complete(&app, &waiting, &passkey).await.status(), 200);
}

#[tokio::test]
async fn a_passkey_lets_a_device_be_remembered() {
    let (app, _, passkey) = world().await;
    app.configure(json!({ "config": { "second_factor": { "remember_device_days": 30 } } })).await;
    let waiting = attempt(&app, ADA).await;
    let Ceremony { options, code } = app.start_second_factor(&waiting).await;
    let given = json!({ "code": code, "authentication_response": passkey.assertion(&options) });
    let body = json!({ "code": waiting, "type": "passkey", "passkey": given, "remember_device": true });
    let answer = app.client().post(PATH, body).await.json();
    let device = app.client().with("x-service-device-token", answer["device_token"].as_str().unwrap());
    let password = json!({ "email": ADA, "password": PASSWORD });
    assert_eq!(device.post("/api/v1/auth/password/sign-in", password).await.status(), 200);
}

#[tokio::test]
async fn a_request_has_the_field_of_its_type_and_no_other() {
    let (app, _, passkey) = world().await;
    let waiting = attempt(&app, ADA).await;
    let Ceremony { options, code } = app.start_second_factor(&waiting).await;
    let given = json!({ "code": code, "authentication_response": passkey.assertion(&options) });
    for (factor, fields) in [
        ("passkey", json!({})),
        ("passkey", json!({ "totp": now_code(&app) })),
        ("passkey", json!({ "passkey": given, "totp": now_code(&app) })),
        ("passkey", json!({ "passkey": given, "recovery_code": "ABCDEF" })),
        ("totp", json!({ "passkey": given, "totp": now_code(&app) })),
        ("recovery-code", json!({ "passkey": given, "recovery_code": "ABCDEF" })),
    ] {
        let mut body = fields;
        body["code"] = json!(waiting);
        body["type"] = json!(factor);
        assert!(problems(&app.client().post(PATH, body.clone()).await)[0].starts_with("body must have"), "{body}");
    }
    let more = json!({ "code": waiting, "type": "passkey", "passkey": { "code": code, "more": 1 } });
    assert_eq!(problems(&app.client().post(PATH, more).await).len(), 2);
    for response in [json!(null), json!(1), json!({}), json!({ "response": [] })] {
        assert_error(&send(&app, &waiting, &code, &response).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    }
}
