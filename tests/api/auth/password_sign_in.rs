//! `POST /api/v1/auth/password/sign-in`.

use serde_json::{Value, json};
use support::{SignedInUser, TestApp};

use super::{assert_error, assert_takes_client_access, opens_own_data, problems};

const PATH: &str = "/api/v1/auth/password/sign-in";

fn ada(password: &str) -> Value {
    json!({ "email": "ada@example.com", "password": password })
}

#[tokio::test]
async fn an_address_and_its_password_sign_in() {
    let app = TestApp::start().await;
    let signed_up = app.sign_up("ada@example.com").await;
    let answer = app.client().post(PATH, json!({ "email": " ADA@Example.com", "password": "correct horse battery" })).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert_eq!(answer.json().as_object().unwrap().keys().collect::<Vec<_>>(), ["access_token", "refresh_token", "user_id"]);

    let ada = SignedInUser::of("ada@example.com", &answer.json());
    assert_eq!(ada.user_id, signed_up.user_id);
    assert!(opens_own_data(&app, &ada).await);
    assert_ne!(ada.refresh_token, signed_up.refresh_token);
}

#[tokio::test]
async fn sign_in_failures_are_indistinguishable() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    app.sign_in_by_mail("mail@example.com").await;
    let password = "correct horse battery";
    let wrong = [
        ada("wrong horse battery"),
        ada(""),
        ada("correct horse battery "),
        ada("Correct horse battery"),
        json!({ "email": "mail@example.com", "password": password }),
        json!({ "email": "nobody@example.com", "password": password }),
        json!({ "email": "no address", "password": password }),
    ];
    let mut told = Vec::new();
    for body in wrong {
        app.recorder.clear();
        let answer = app.client().post(PATH, body).await;
        assert_error(&answer, 400, "EMAIL_PASSWORD_MISMATCH");
        let calls: Vec<String> = app.recorder.calls().into_iter().map(|(operation, _)| operation).collect();
        told.push((answer.json(), calls));
    }
    assert!(told.iter().all(|one| *one == told[0]), "{told:?}");
}

#[tokio::test]
async fn unknown_and_known_addresses_take_the_same_number_of_reads() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let mut calls = Vec::new();
    for email in ["ada@example.com", "nobody@example.com"] {
        app.recorder.clear();
        app.client().post(PATH, json!({ "email": email, "password": "wrong horse battery" })).await;
        calls.push(app.recorder.calls().into_iter().map(|(operation, _)| operation).collect::<Vec<_>>());
    }
    assert_eq!(calls[0], calls[1]);
}

#[tokio::test]
async fn an_account_of_another_project_does_not_sign_in() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let other = app.another_project().await;
    let answer = app.client_of(&other).post(PATH, ada("correct horse battery")).await;
    assert_error(&answer, 400, "EMAIL_PASSWORD_MISMATCH");
}

#[tokio::test]
async fn with_passwords_disabled_the_right_one_is_rejected() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    app.configure(json!({ "config": { "credential_enabled": false } })).await;
    assert_error(&app.client().post(PATH, ada("correct horse battery")).await, 400, "PASSWORD_AUTHENTICATION_NOT_ENABLED");
    app.configure(json!({ "config": { "credential_enabled": true, "sign_up_enabled": false } })).await;
    app.sign_in("ada@example.com").await;
}

#[tokio::test]
async fn a_password_shorter_than_the_current_minimum_still_signs_in() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    app.configure(json!({ "config": { "password_min_length": 100 } })).await;
    app.sign_in("ada@example.com").await;
}

#[tokio::test]
async fn both_fields_are_required_and_others_are_rejected() {
    let app = TestApp::start().await;
    let answer = app.client().post(PATH, json!({ "remember_me": true })).await;
    let mut problems = problems(&answer);
    problems.sort();
    assert_eq!(problems, ["body.email is required", "body.password is required", "body.remember_me is not known"]);
}

#[tokio::test]
async fn client_access_is_required() {
    let app = TestApp::start().await;
    assert_takes_client_access(&app, "POST", PATH).await;
    app.sign_up("ada@example.com").await;
    assert_eq!(app.server().post(PATH, ada("correct horse battery")).await.status(), 200);
}

#[tokio::test]
async fn an_empty_address_is_rejected() {
    let app = TestApp::start().await;
    let answer = app.client().post(PATH, json!({ "email": " ", "password": "correct horse battery" })).await;
    assert_eq!(problems(&answer), ["body.email must not be empty"]);
}
