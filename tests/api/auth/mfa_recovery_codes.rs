//! `POST` and `GET /api/v1/auth/mfa/recovery-codes`, and the use of the codes for signing in.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::{Answer, SignedInUser, TestApp};

use super::mfa_sign_in::{attempt, now_code, sign_in as totp_sign_in, user_with_app};
use super::{assert_error, assert_takes_client_access, opens_own_data, problems};

const PATH: &str = "/api/v1/auth/mfa/recovery-codes";
const SIGN_IN: &str = "/api/v1/auth/mfa/sign-in";
const ME: &str = "/api/v1/users/me";
const ADA: &str = "ada@example.com";
const SECRET: &[u8] = b"a secret of an app";

/// Creates a set of codes.
pub(crate) async fn codes(app: &TestApp, user: &SignedInUser) -> Vec<String> {
    let answer = app.signed_in(user).post(PATH, json!({})).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    serde_json::from_value(answer.json()["codes"].clone()).unwrap()
}

pub(crate) async fn left(app: &TestApp, user: &SignedInUser) -> Value {
    app.signed_in(user).get(PATH).await.json()["remaining"].clone()
}

async fn sign_in(app: &TestApp, attempt: &str, code: &str) -> Answer {
    app.client().post(SIGN_IN, json!({ "code": attempt, "type": "recovery-code", "recovery_code": code })).await
}

/// Signs in with the password and a recovery code.
pub(crate) async fn recover(app: &TestApp, code: &str) -> Answer {
    sign_in(app, &attempt(app, ADA).await, code).await
}

/// A well-formed code that is not in the set.
fn wrong_code(codes: &[String]) -> String {
    "ABCDEFGHJKM".chars().map(|letter| letter.to_string().repeat(6)).find(|code| !codes.contains(code)).unwrap()
}

#[tokio::test]
async fn each_of_ten_codes_signs_in_once() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, ADA).await;
    let codes = codes(&app, &ada).await;
    assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), 10);
    assert!(codes.iter().all(|code| code.len() == 6 && code.bytes().any(|byte| byte.is_ascii_uppercase())), "{codes:?}");
    let state = app.signed_in(&ada).get(PATH).await.json();
    assert_eq!(state, json!({ "remaining": 10, "created_at_millis": app.now().as_millisecond() }));
    app.advance(SignedDuration::from_secs(1));

    for (number, code) in codes.iter().enumerate() {
        let answer = recover(&app, code).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        assert_eq!((&answer.json()["user_id"], &answer.json()["is_new_user"]), (&json!(ada.user_id), &json!(false)));
        let again = SignedInUser::of(ADA, &answer.json());
        assert!(opens_own_data(&app, &again).await);
        assert_eq!(left(&app, &again).await, 9 - number);
        assert_error(&recover(&app, code).await, 400, "INVALID_RECOVERY_CODE");
    }
    assert_eq!(app.signed_in(&ada).get(PATH).await.json(), json!({ "remaining": 0, "created_at_millis": state["created_at_millis"] }));
    // The authenticator app still works.
    assert_eq!(totp_sign_in(&app, &attempt(&app, ADA).await, &now_code(&app)).await.status(), 200);
}

#[tokio::test]
async fn the_totp_field_accepts_a_recovery_code_as_people_type_it() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, ADA).await;
    let codes = codes(&app, &ada).await;
    let (first, second) = codes[0].split_at(3);
    for typed in [format!(" {}-{} ", first.to_lowercase(), second.to_lowercase()), codes[1].clone()] {
        let waiting = attempt(&app, ADA).await;
        assert_error(&totp_sign_in(&app, &waiting, &wrong_code(&codes)).await, 400, "INVALID_TOTP_CODE");
        assert_eq!(totp_sign_in(&app, &waiting, &typed).await.status(), 200);
        assert_error(&totp_sign_in(&app, &attempt(&app, ADA).await, &typed).await, 400, "INVALID_TOTP_CODE");
    }
    assert_eq!(left(&app, &ada).await, 8);
    // The field for a recovery code accepts only recovery codes.
    for other in [&now_code(&app), "", "nonsense", "AAAAAAA"] {
        assert_error(&recover(&app, other).await, 400, "INVALID_RECOVERY_CODE");
    }
}

#[tokio::test]
async fn the_codes_can_be_read_once_and_are_not_stored() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, ADA).await;
    app.recorder.clear();
    let codes = codes(&app, &ada).await;
    let written = app.recorder.calls();
    assert!(written.iter().any(|(_, body)| body.contains("recovery")));
    let table = format!("{:?}", app.table());
    for code in &codes {
        assert!(written.iter().all(|(_, body)| !body.contains(code.as_str())) && !table.contains(code.as_str()), "{code} is stored");
    }
    let server = app.server().get(&format!("/api/v1/users/{}", ada.user_id)).await;
    for answer in [app.signed_in(&ada).get(PATH).await, app.signed_in(&ada).get(ME).await, server] {
        assert!(
            !answer.text().contains("recovery") && codes.iter().all(|code| !answer.text().contains(code.as_str())),
            "{}",
            answer.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_redemptions_of_a_code_one_signs_in() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, ADA).await;
    let codes = codes(&app, &ada).await;
    let before = app.signed_in(&ada).get("/api/v1/auth/sessions").await.json()["items"].as_array().unwrap().len();
    // In the last round, only one code is left.
    for (round, code) in codes.iter().enumerate() {
        let (first, second) = (attempt(&app, ADA).await, attempt(&app, ADA).await);
        let answers = tokio::join!(
            sign_in(&app, &first, code),
            sign_in(&app, &first, code),
            sign_in(&app, &second, code),
            totp_sign_in(&app, &second, code)
        );
        let statuses = [&answers.0, &answers.1, &answers.2, &answers.3].map(Answer::status);
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "round {round}: {statuses:?}");
        assert!(statuses.iter().all(|status| [200, 400, 409].contains(status)), "round {round}: {statuses:?}");
        assert_eq!(left(&app, &ada).await, 9 - round);
    }
    let sessions = app.signed_in(&ada).get("/api/v1/auth/sessions").await.json()["items"].as_array().unwrap().len();
    assert_eq!(sessions, before + 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_redemptions_of_different_codes_all_sign_in() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, ADA).await;
    let codes = codes(&app, &ada).await;
    let attempts = [attempt(&app, ADA).await, attempt(&app, ADA).await, attempt(&app, ADA).await];
    let answers = tokio::join!(
        sign_in(&app, &attempts[0], &codes[0]),
        sign_in(&app, &attempts[1], &codes[1]),
        sign_in(&app, &attempts[2], &codes[2])
    );
    assert_eq!([answers.0, answers.1, answers.2].map(|answer| answer.status()), [200; 3]);
    assert_eq!(left(&app, &ada).await, 7);
}

#[tokio::test]
async fn wrong_codes_are_limited_together_with_those_of_the_app() {
    let app = TestApp::start_with(Limits::off().with(Rule::SignInFailures, Some(Rate::new(10, 600)))).await;
    let ada = user_with_app(&app, ADA).await;
    let codes = codes(&app, &ada).await;
    let wrong = wrong_code(&codes);
    for _ in 0..5 {
        assert_error(&recover(&app, &wrong).await, 400, "INVALID_RECOVERY_CODE");
        assert_error(&totp_sign_in(&app, &attempt(&app, ADA).await, "nonsense").await, 400, "INVALID_TOTP_CODE");
    }
    assert_error(&recover(&app, &wrong).await, 429, "RATE_LIMITED");
    assert_error(&recover(&app, &codes[0]).await, 429, "RATE_LIMITED");
    assert_error(&totp_sign_in(&app, &attempt(&app, ADA).await, &codes[0]).await, 429, "RATE_LIMITED");
    assert_eq!(left(&app, &ada).await, 10);
    app.advance(SignedDuration::from_mins(20));
    let ada = SignedInUser::of(ADA, &recover(&app, &codes[0]).await.json());
    assert_eq!(left(&app, &ada).await, 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_guesses_at_most_ten_are_evaluated() {
    let app = TestApp::start_with(Limits::off().with(Rule::SignInFailures, Some(Rate::new(10, 600)))).await;
    let ada = user_with_app(&app, ADA).await;
    let wrong = wrong_code(&codes(&app, &ada).await);
    let mut attempts = Vec::new();
    for _ in 0..40 {
        attempts.push(attempt(&app, ADA).await);
    }
    let guesses: Vec<_> = attempts
        .into_iter()
        .map(|attempt| {
            let (client, body) = (app.client(), json!({ "code": attempt, "type": "recovery-code", "recovery_code": wrong }));
            tokio::spawn(async move { client.post(SIGN_IN, body).await.status() })
        })
        .collect();
    let mut evaluated = 0;
    for guess in guesses {
        match guess.await.unwrap() {
            400 => evaluated += 1,
            status => assert_eq!(status, 429),
        }
    }
    assert_eq!(evaluated, 10);
}

#[tokio::test]
async fn guessing_ends_the_attempt_after_twenty_codes() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, ADA).await;
    let codes = codes(&app, &ada).await;
    let (guessed, wrong) = (attempt(&app, ADA).await, wrong_code(&codes));
    for _ in 0..20 {
        assert_error(&sign_in(&app, &guessed, &wrong).await, 400, "INVALID_RECOVERY_CODE");
    }
    assert_error(&sign_in(&app, &guessed, &codes[0]).await, 400, "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED");
}

#[tokio::test]
async fn a_new_set_replaces_the_earlier_one() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, ADA).await;
    let old = codes(&app, &ada).await;
    assert_eq!(recover(&app, &old[0]).await.status(), 200);
    let new = codes(&app, &ada).await;
    assert_eq!(left(&app, &ada).await, 10);
    for code in old.iter().filter(|code| !new.contains(code)) {
        assert_error(&recover(&app, code).await, 400, "INVALID_RECOVERY_CODE");
    }
    assert_eq!(recover(&app, &new[0]).await.status(), 200);
}

#[tokio::test]
async fn codes_require_an_app_and_end_with_it() {
    let app = TestApp::start().await;
    let bare = app.sign_up(ADA).await;
    let table = app.table();
    assert_error(&app.signed_in(&bare).post(PATH, json!({})).await, 400, "AUTHENTICATOR_APP_REQUIRED");
    assert_eq!(app.table(), table);
    assert_eq!(app.signed_in(&bare).get(PATH).await.json(), json!({ "remaining": 0, "created_at_millis": null }));

    let app = TestApp::start().await;
    let ada = user_with_app(&app, ADA).await;
    let own = app.signed_in(&ada);
    // The user has an authenticator app but no recovery codes.
    assert_error(&recover(&app, "ABCDEF").await, 400, "INVALID_RECOVERY_CODE");
    for change in [json!({ "totp_secret_base64": STANDARD.encode(b"another secret of an app") }), json!({ "totp_secret_base64": null })] {
        let codes = codes(&app, &ada).await;
        let waiting = attempt(&app, ADA).await;
        assert_eq!(own.patch(ME, change).await.status(), 200);
        assert_error(&sign_in(&app, &waiting, &codes[0]).await, 400, "INVALID_RECOVERY_CODE");
        assert_eq!(own.get(PATH).await.json(), json!({ "remaining": 0, "created_at_millis": null }));
        // Setting up the first app again does not restore the codes.
        assert_eq!(own.patch(ME, json!({ "totp_secret_base64": STANDARD.encode(SECRET) })).await.status(), 200);
        assert_error(&recover(&app, &codes[0]).await, 400, "INVALID_RECOVERY_CODE");
    }
}

#[tokio::test]
async fn an_app_that_was_stored_before_there_were_codes_gets_some() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, ADA).await;
    assert!(!format!("{:?}", app.table()).contains("recovery"), "the user's item looks like one of an earlier version");
    let codes = codes(&app, &ada).await;
    assert_eq!(recover(&app, &codes[9]).await.status(), 200);
}

#[tokio::test]
async fn a_new_set_requires_as_recent_a_proof_as_removing_the_app() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, ADA).await;
    app.configure(json!({ "config": { "reauthentication_max_age_seconds": 86_400 } })).await;
    app.advance(SignedDuration::from_mins(5));
    let table = app.table();
    assert_error(&app.signed_in(&ada).post(PATH, json!({})).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_eq!(app.table(), table);
    let proof = json!({ "password": "correct horse battery" });
    assert_eq!(app.signed_in(&ada).post("/api/v1/auth/sessions/current/reauthenticate", proof).await.status(), 200);
    assert_eq!(codes(&app, &ada).await.len(), 10);
}

#[tokio::test]
async fn a_code_works_for_its_user_only_and_not_without_the_password() {
    let app = TestApp::start().await;
    let (ada, bob) = (user_with_app(&app, ADA).await, user_with_app(&app, "bob@example.com").await);
    let (of_ada, of_bob) = (codes(&app, &ada).await, codes(&app, &bob).await);
    let stranger = of_bob.iter().find(|code| !of_ada.contains(code)).unwrap();
    assert_error(&recover(&app, stranger).await, 400, "INVALID_RECOVERY_CODE");
    assert_eq!((left(&app, &ada).await, left(&app, &bob).await), (json!(10), json!(10)));
    for (path, body) in [
        ("/api/v1/auth/password/sign-in", json!({ "email": ADA, "password": of_ada[0] })),
        ("/api/v1/auth/otp/sign-in", json!({ "code": of_ada[0] })),
        (SIGN_IN, json!({ "code": "0".repeat(45), "type": "recovery-code", "recovery_code": of_ada[0] })),
    ] {
        assert_ne!(app.client().post(path, body).await.status(), 200, "{path}");
    }
    assert_eq!(left(&app, &ada).await, 10);
}

#[tokio::test]
async fn a_pending_sign_in_that_has_ended_takes_no_code() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, ADA).await;
    let codes = codes(&app, &ada).await;
    let waiting = attempt(&app, ADA).await;
    assert_eq!(app.server().delete(&format!("/api/v1/auth/sessions?user_id={}", ada.user_id)).await.status(), 200);
    assert_error(&sign_in(&app, &waiting, &codes[0]).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    let waiting = attempt(&app, ADA).await;
    app.advance(SignedDuration::from_mins(5));
    assert_error(&sign_in(&app, &waiting, &codes[0]).await, 400, "VERIFICATION_CODE_EXPIRED");
    assert_eq!(recover(&app, &codes[0]).await.status(), 200);
    assert_error(&app.signed_in(&ada).post(PATH, json!({})).await, 401, "ACCESS_TOKEN_EXPIRED");
    assert_error(&app.signed_in(&ada).get(PATH).await, 401, "ACCESS_TOKEN_EXPIRED");
}

#[tokio::test]
async fn a_failed_write_leaves_the_code_unused() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, ADA).await;
    let codes = codes(&app, &ada).await;
    let waiting = attempt(&app, ADA).await;
    // The first write, which counts the attempt, succeeds. The second write, which would start the
    // session, fails.
    app.recorder.fail_write(1, "ValidationException");
    assert_eq!(sign_in(&app, &waiting, &codes[0]).await.status(), 500);
    assert_eq!(left(&app, &ada).await, 10);
    assert_eq!(sign_in(&app, &waiting, &codes[0]).await.status(), 200);
}

#[tokio::test]
async fn malformed_requests_are_rejected() {
    let app = TestApp::start().await;
    assert_error(&app.client().post(PATH, json!({})).await, 401, "USER_AUTHENTICATION_REQUIRED");
    assert_error(&app.client().get(PATH).await, 401, "USER_AUTHENTICATION_REQUIRED");
    assert_takes_client_access(&app, "POST", PATH).await;
    let code = "0".repeat(45);
    for (given, wanted) in [
        (json!({ "type": "recovery-code" }), "body must have recovery_code, but not totp or passkey"),
        (json!({ "type": "recovery-code", "totp": "ABCDEF" }), "body must have recovery_code, but not totp or passkey"),
        (
            json!({ "type": "recovery-code", "totp": "123456", "recovery_code": "ABCDEF" }),
            "body must have recovery_code, but not totp or passkey",
        ),
        (json!({ "type": "totp" }), "body must have totp, but not recovery_code or passkey"),
        (json!({ "type": "totp", "totp": "123456", "recovery_code": "ABCDEF" }), "body must have totp, but not recovery_code or passkey"),
        (json!({ "type": "recovery-code", "recovery_code": 7 }), "body.recovery_code must be a string, not an integer"),
    ] {
        let mut body = given;
        body["code"] = json!(code);
        assert_eq!(problems(&app.client().post(SIGN_IN, body).await), [wanted]);
    }
}
