//! `POST /api/v1/auth/otp/sign-in`.

use jiff::SignedDuration;
use serde_json::json;
use support::{SignedInUser, TestApp};
use tokio::task::JoinSet;

use super::{assert_error, assert_takes_client_access, opens_own_data, problems};
use crate::stored;

const PATH: &str = "/api/v1/auth/otp/sign-in";
const CHECK: &str = "/api/v1/auth/otp/sign-in/check-code";

async fn redeem(app: &TestApp, code: &str) -> support::Answer {
    app.client().post(PATH, json!({ "code": code })).await
}

/// A code with the same nonce but a different typed part.
fn guess(code: &str, number: u32) -> String {
    let typed = format!("{number:06}");
    assert_ne!(typed, code[..6]);
    typed + &code[6..]
}

#[tokio::test]
async fn a_new_user_gets_an_account_with_a_verified_address() {
    let app = TestApp::start().await;
    let code = app.sign_in_code("ada@example.com").await;
    let answer = redeem(&app, &code).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let body = answer.json();
    assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), ["access_token", "is_new_user", "refresh_token", "user_id"]);
    assert_eq!(body["is_new_user"], true);

    let ada = SignedInUser::of("ada@example.com", &body);
    assert!(opens_own_data(&app, &ada).await);
    let me = app.signed_in(&ada).get("/api/v1/users/me").await.json();
    assert_eq!((&me["primary_email_verified"], &me["otp_auth_enabled"], &me["has_password"]), (&json!(true), &json!(true), &json!(false)));
}

#[tokio::test]
async fn an_existing_user_signs_in() {
    let app = TestApp::start().await;
    let first = app.sign_in_by_mail("ada@example.com").await;
    let code = app.sign_in_code("Ada@example.com").await;
    let answer = redeem(&app, &code).await.json();
    assert_eq!((&answer["user_id"], &answer["is_new_user"]), (&json!(first.user_id), &json!(false)));
}

#[tokio::test]
async fn the_typed_part_is_case_insensitive_and_combined_with_the_nonce() {
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "callback_url": "http://localhost/" });
    let nonce = app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.json()["nonce"].as_str().unwrap().to_owned();
    let typed = app.last_mail("ada@example.com").await.code()[..6].to_uppercase();
    assert_eq!(redeem(&app, &format!("{typed}{nonce}")).await.status(), 200);
}

#[tokio::test]
async fn a_code_is_read_in_every_form_in_which_it_is_pasted() {
    let app = TestApp::start().await;
    for number in 0..6 {
        let address = format!("user{number}@example.com");
        let code = app.sign_in_code(&address).await;
        let (typed, nonce) = (code[..6].to_uppercase(), &code[6..]);
        let pasted = match number {
            0 => format!("{} {}{nonce}", &typed[..3], &typed[3..]),
            1 => format!("{}-{}{nonce}", &typed[..3], &typed[3..]),
            2 => format!("{typed}\r\n{nonce}"),
            3 => format!("\u{a0}{}\u{2013}{}\u{200b}{nonce}", &typed[..2], &typed[2..]),
            4 => format!("{}{nonce}", typed.replace('0', "O").replace('1', "l")),
            _ => format!(" \t{code}\n"),
        };
        assert_eq!(redeem(&app, &pasted).await.status(), 200, "{pasted:?}");
        assert_error(&redeem(&app, &code).await, 409, "VERIFICATION_CODE_ALREADY_USED");
    }
}

#[tokio::test]
async fn a_code_is_redeemed_once() {
    let app = TestApp::start().await;
    let code = app.sign_in_code("ada@example.com").await;
    assert_eq!(redeem(&app, &code).await.status(), 200);
    assert_error(&redeem(&app, &code).await, 409, "VERIFICATION_CODE_ALREADY_USED");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_redemptions_of_a_code_one_succeeds() {
    let app = TestApp::start().await;
    let code = app.sign_in_code("ada@example.com").await;
    let mut race = JoinSet::new();
    for _ in 0..50 {
        let (client, body) = (app.client(), json!({ "code": code }));
        race.spawn(async move { client.post(PATH, body).await });
    }
    let answers = race.join_all().await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status() == 200);
    assert_eq!(won.len(), 1);
    for answer in lost {
        assert!(
            ["VERIFICATION_CODE_ALREADY_USED", "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED"].contains(&answer.code().as_str()),
            "{}",
            answer.text()
        );
    }
    let ada = SignedInUser::of("ada@example.com", &won[0].json());
    let sessions = app.signed_in(&ada).get("/api/v1/auth/sessions").await.json();
    assert_eq!(sessions["items"].as_array().unwrap().len(), 1);
    assert_eq!(app.app.store.user_ids(app.project_id()).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_codes_of_an_address_redeemed_concurrently_create_one_account() {
    let app = TestApp::start().await;
    let mut race = JoinSet::new();
    for _ in 0..8 {
        let (client, body) = (app.client(), json!({ "code": app.sign_in_code("ada@example.com").await }));
        race.spawn(async move { client.post(PATH, body).await });
    }
    let answers = race.join_all().await;
    for answer in &answers {
        assert_eq!((answer.status(), &answer.json()["user_id"]), (200, &answers[0].json()["user_id"]), "{}", answer.text());
    }
    assert_eq!(answers.iter().filter(|answer| answer.json()["is_new_user"] == true).count(), 1);
}

#[tokio::test]
async fn a_code_expires_after_ten_minutes() {
    let app = TestApp::start().await;
    let (in_time, too_late) = (app.sign_in_code("ada@example.com").await, app.sign_in_code("ada@example.com").await);
    app.advance(SignedDuration::from_millis(10 * 60_000 - 1));
    assert_eq!(redeem(&app, &in_time).await.status(), 200);
    app.advance(SignedDuration::from_millis(1));
    assert_error(&redeem(&app, &too_late).await, 400, "VERIFICATION_CODE_EXPIRED");
    assert_error(&redeem(&app, &in_time).await, 400, "VERIFICATION_CODE_EXPIRED");
}

#[tokio::test]
async fn guessing_the_typed_part_invalidates_the_code() {
    let app = TestApp::start().await;
    let code = app.sign_in_code("ada@example.com").await;
    for number in 0..20 {
        assert_error(&redeem(&app, &guess(&code, number)).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    }
    assert_error(&redeem(&app, &code).await, 400, "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED");
    app.sign_in_by_mail("ada@example.com").await;
}

#[tokio::test]
async fn the_twentieth_attempt_can_succeed() {
    let app = TestApp::start().await;
    let code = app.sign_in_code("ada@example.com").await;
    for number in 0..19 {
        let (path, body) = (if number % 2 == 0 { PATH } else { CHECK }, json!({ "code": guess(&code, number) }));
        app.client().post(path, body).await;
    }
    assert_eq!(redeem(&app, &code).await.status(), 200);
}

#[tokio::test]
async fn a_code_of_another_purpose_or_project_does_not_exist() {
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery", "verification_callback_url": "http://localhost/" });
    app.client().post("/api/v1/auth/password/sign-up", body).await;
    let verification = app.last_mail("ada@example.com").await.code();
    assert_error(&redeem(&app, &verification).await, 404, "VERIFICATION_CODE_NOT_FOUND");

    let code = app.sign_in_code("bob@example.com").await;
    let (other, body) = (app.another_project().await, json!({ "code": code }));
    assert_error(&app.client_of(&other).post(PATH, body.clone()).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_error(&app.client().post("/api/v1/contact-channels/verify", body.clone()).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_eq!(app.client().post(PATH, body).await.status(), 200);
    assert_error(&redeem(&app, &"0".repeat(45)).await, 404, "VERIFICATION_CODE_NOT_FOUND");
}

#[tokio::test]
async fn a_rejected_sign_in_does_not_consume_the_code() {
    let app = TestApp::start().await;
    let code = app.sign_in_code("ada@example.com").await;
    app.configure(json!({ "config": { "magic_link_enabled": false, "sign_up_enabled": false } })).await;
    assert_error(&redeem(&app, &code).await, 403, "MAGIC_LINK_NOT_ENABLED");
    app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
    assert_error(&redeem(&app, &code).await, 400, "SIGN_UP_NOT_ENABLED");
    app.configure(json!({ "config": { "sign_up_enabled": true } })).await;
    assert_eq!(redeem(&app, &code).await.status(), 200);
}

#[tokio::test]
async fn a_code_takes_over_an_unverified_account_created_meanwhile() {
    let app = TestApp::start().await;
    let code = app.sign_in_code("ada@example.com").await;
    let squatter = app.sign_up("ada@example.com").await;
    let answer = redeem(&app, &code).await;
    assert_eq!((answer.status(), &answer.json()["user_id"]), (200, &json!(squatter.user_id)), "{}", answer.text());
    assert_error(&app.signed_in(&squatter).get("/api/v1/users/me").await, 401, "ACCESS_TOKEN_EXPIRED");
}

#[tokio::test]
async fn an_anonymous_user_is_upgraded_and_keeps_its_id() {
    let app = TestApp::start().await;
    let visitor = stored::anonymous_user(&app).await;
    let code = app.sign_in_code("ada@example.com").await;
    let caller = app.signed_in(&visitor).with("x-stack-allow-anonymous-user", "true");
    let answer = caller.post(PATH, json!({ "code": code })).await.json();
    assert_eq!((&answer["user_id"], &answer["is_new_user"]), (&json!(visitor.user_id), &json!(true)));
}

#[tokio::test]
async fn a_failed_write_does_not_consume_the_code() {
    let app = TestApp::start().await;
    let code = app.sign_in_code("ada@example.com").await;
    app.recorder.fail_write(1, "AccessDeniedException");
    assert_error(&redeem(&app, &code).await, 500, "INTERNAL_ERROR");
    assert!(app.app.store.user_ids(app.project_id()).await.unwrap().is_empty());
    assert_eq!(redeem(&app, &code).await.status(), 200);
}

#[tokio::test]
async fn a_code_has_45_characters() {
    let app = TestApp::start().await;
    // Codes do not contain control characters, and `İ` becomes two characters in lower case.
    for code in ["", "abc", &"0".repeat(44), &"0".repeat(46), &"\u{0}".repeat(45), &"İ".repeat(45)] {
        let answer = redeem(&app, code).await;
        assert_eq!(problems(&answer), ["body.code must be 45 characters long"]);
    }
    for code in ["ä".repeat(45), "!".repeat(45)] {
        assert_error(&redeem(&app, &code).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    }
}

#[tokio::test]
async fn client_access_is_required() {
    let app = TestApp::start().await;
    assert_takes_client_access(&app, "POST", PATH).await;
    let code = app.sign_in_code("ada@example.com").await;
    assert_eq!(app.server().post(PATH, json!({ "code": code })).await.status(), 200);
}
