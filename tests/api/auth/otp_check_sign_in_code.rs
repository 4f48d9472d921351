//! `POST /api/v1/auth/otp/sign-in/check-code`.

use jiff::SignedDuration;
use serde_json::json;
use support::TestApp;

use super::{assert_takes_client_access, problems};

const PATH: &str = "/api/v1/auth/otp/sign-in/check-code";
const SIGN_IN: &str = "/api/v1/auth/otp/sign-in";

async fn is_valid(app: &TestApp, code: &str) -> bool {
    let answer = app.client().post(PATH, json!({ "code": code })).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let body = answer.json();
    assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
    body["is_code_valid"].as_bool().unwrap()
}

#[tokio::test]
async fn a_code_is_valid_until_redeemed() {
    let app = TestApp::start().await;
    let code = app.sign_in_code("ada@example.com").await;
    assert!(is_valid(&app, &code).await);
    assert!(is_valid(&app, &code.to_uppercase()).await);
    assert_eq!(app.client().post(SIGN_IN, json!({ "code": code })).await.status(), 200);
    assert!(!is_valid(&app, &code).await);
}

#[tokio::test]
async fn a_code_is_valid_for_ten_minutes() {
    let app = TestApp::start().await;
    let code = app.sign_in_code("ada@example.com").await;
    app.advance(SignedDuration::from_secs(599));
    assert!(is_valid(&app, &code).await);
    app.advance(SignedDuration::from_secs(1));
    assert!(!is_valid(&app, &code).await);
}

#[tokio::test]
async fn a_check_counts_as_an_attempt() {
    let app = TestApp::start().await;
    let code = app.sign_in_code("ada@example.com").await;
    for _ in 0..20 {
        assert!(is_valid(&app, &code).await);
    }
    assert!(!is_valid(&app, &code).await);
    let answer = app.client().post(SIGN_IN, json!({ "code": code })).await;
    assert_eq!(answer.code(), "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED");
}

#[tokio::test]
async fn a_wrong_typed_part_counts_as_an_attempt() {
    let app = TestApp::start().await;
    let code = app.sign_in_code("ada@example.com").await;
    for number in 0..20 {
        assert!(!is_valid(&app, &format!("{number:06}{}", &code[6..])).await);
    }
    assert!(!is_valid(&app, &code).await);
}

#[tokio::test]
async fn unknown_and_foreign_codes_are_invalid() {
    let app = TestApp::start().await;
    assert!(!is_valid(&app, &"0".repeat(45)).await);
    let code = app.sign_in_code("ada@example.com").await;
    let other = app.another_project().await;
    let answer = app.client_of(&other).post(PATH, json!({ "code": code })).await;
    assert_eq!((answer.status(), answer.json()), (200, json!({ "is_code_valid": false })));
    assert!(is_valid(&app, &code).await);
}

#[tokio::test]
async fn a_code_has_45_characters() {
    let app = TestApp::start().await;
    for code in [json!("abc"), json!("0".repeat(46)), json!(""), json!(45), json!(null), json!(["0"])] {
        let answer = app.client().post(PATH, json!({ "code": code })).await;
        let problems = problems(&answer);
        assert!(
            problems.len() == 1 && problems[0].starts_with("body.code must be a string")
                || problems[0] == "body.code must be 45 characters long",
            "{problems:?}"
        );
    }
}

#[tokio::test]
async fn client_access_is_required() {
    let app = TestApp::start().await;
    assert_takes_client_access(&app, "POST", PATH).await;
    let code = app.sign_in_code("ada@example.com").await;
    assert_eq!(app.server().post(PATH, json!({ "code": code })).await.json(), json!({ "is_code_valid": true }));
}
