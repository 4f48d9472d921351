//! `POST /api/v1/auth/password/sign-up`.

use serde_json::{Value, json};
use support::{SignedInUser, TestApp};
use tokio::task::JoinSet;

use super::{assert_error, assert_takes_client_access, opens_own_data, problems};
use crate::stored;

const PATH: &str = "/api/v1/auth/password/sign-up";

fn ada() -> Value {
    json!({ "email": "ada@example.com", "password": "correct horse battery" })
}

fn ada_with(name: &str, value: impl Into<Value>) -> Value {
    let mut body = ada();
    body[name] = value.into();
    body
}

#[tokio::test]
async fn a_sign_up_starts_a_session() {
    let app = TestApp::start().await;
    let answer = app.client().post(PATH, ada()).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let body = answer.json();
    assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), ["access_token", "refresh_token", "user_id"]);
    assert_eq!(body["refresh_token"].as_str().unwrap().len(), 90);

    let ada = SignedInUser::of("ada@example.com", &body);
    assert!(opens_own_data(&app, &ada).await);
    let me = app.signed_in(&ada).get("/api/v1/users/me").await.json();
    assert_eq!(
        (&me["primary_email"], &me["primary_email_verified"], &me["has_password"]),
        (&json!("ada@example.com"), &json!(false), &json!(true))
    );
}

#[tokio::test]
async fn an_address_can_sign_up_once() {
    let app = TestApp::start().await;
    let ada = json!({ "email": "Ada@Example.com ", "password": "correct horse battery" });

    let first = app.client().post(PATH, ada.clone()).await;
    assert_eq!(first.status(), 200, "{}", first.text());

    let second = app.client().post(PATH, ada).await;
    assert_eq!(second.status(), 409);
    assert_eq!(second.json()["code"], "USER_EMAIL_ALREADY_EXISTS");
    assert_eq!(second.json()["details"], json!({ "email": "ada@example.com", "would_work_if_email_was_verified": false }));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_sign_ups_with_an_address_one_succeeds() {
    let app = TestApp::start().await;
    let mut race = JoinSet::new();
    for _ in 0..50 {
        let client = app.client();
        race.spawn(async move { client.post(PATH, ada()).await });
    }
    let answers = race.join_all().await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status() == 200);
    assert_eq!(won.len(), 1);
    for answer in lost {
        assert_error(answer, 409, "USER_EMAIL_ALREADY_EXISTS");
    }
    assert_eq!(app.sign_in("ada@example.com").await.user_id, won[0].json()["user_id"]);
    assert_eq!(app.app.store.user_ids(app.project_id()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_address_can_sign_up_in_two_projects() {
    let app = TestApp::start().await;
    let here = app.sign_up("ada@example.com").await;
    let other = app.another_project().await;
    let there = app.client_of(&other).post(PATH, ada()).await;
    assert_eq!(there.status(), 200);
    assert_ne!(there.json()["user_id"], here.user_id);
}

#[tokio::test]
async fn the_verification_email_has_a_working_code() {
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery", "verification_callback_url": "http://localhost:3000/verify?x=1" });
    let answer = app.client().post(PATH, body).await;
    let ada = support::SignedInUser::of("ada@example.com", &answer.json());

    let mail = app.last_mail("ada@example.com").await;
    assert!(mail.link().starts_with("http://localhost:3000/verify?x=1&code="), "{}", mail.link());
    let verified = app.client().post("/api/v1/contact-channels/verify", json!({ "code": mail.code() })).await;
    assert_eq!((verified.status(), verified.json()), (200, json!({ "success": true })));

    let me = app.signed_in(&ada).get("/api/v1/users/me").await;
    assert_eq!(me.json()["primary_email_verified"], true);
}

#[tokio::test]
async fn without_a_callback_no_email_is_sent() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    assert!(app.mails("ada@example.com").await.is_empty());
}

#[tokio::test]
async fn an_untrusted_callback_creates_neither_an_account_nor_an_email() {
    let app = TestApp::start().await;
    let urls =
        ["https://evil.test/verify", "http://localhost.evil.test/", "http://localhost@evil.test/", "javascript://localhost/%0aalert(1)"];
    for url in urls {
        let answer = app.client().post(PATH, ada_with("verification_callback_url", url)).await;
        assert_eq!(assert_error(&answer, 400, "REDIRECT_URL_NOT_WHITELISTED"), Value::Null, "{url}");
    }
    assert!(app.mails("ada@example.com").await.is_empty());
    app.sign_up("ada@example.com").await;

    app.configure(json!({ "config": { "domains": [{ "domain": "https://*.example.com" }] } })).await;
    let bob = json!({ "email": "bob@example.com", "password": "correct horse battery", "verification_callback_url": "https://app.example.com/v" });
    assert_eq!(app.client().post(PATH, bob).await.status(), 200);
}

#[tokio::test]
async fn a_password_has_8_to_128_characters_of_any_script() {
    let app = TestApp::start().await;
    let short = app.client().post(PATH, ada_with("password", "ä".repeat(7))).await;
    assert_eq!(assert_error(&short, 400, "PASSWORD_TOO_SHORT"), json!({ "min_length": 8 }));
    let long = app.client().post(PATH, ada_with("password", "ä".repeat(129))).await;
    assert_eq!(assert_error(&long, 400, "PASSWORD_TOO_LONG"), json!({ "maxLength": 128 }));

    for (index, password) in ["äö".repeat(4), "🦀x".repeat(64), " \t\0 \u{202e}   ".to_owned()].into_iter().enumerate() {
        let body = json!({ "email": format!("user{index}@example.com"), "password": password });
        assert_eq!(app.client().post(PATH, body.clone()).await.status(), 200);
        assert_eq!(app.client().post("/api/v1/auth/password/sign-in", body).await.status(), 200);
    }
}

#[tokio::test]
async fn a_project_can_require_longer_passwords() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "password_min_length": 12 } })).await;
    let answer = app.client().post(PATH, ada_with("password", "elevenchars")).await;
    assert_eq!(assert_error(&answer, 400, "PASSWORD_TOO_SHORT"), json!({ "min_length": 12 }));
    assert_eq!(app.client().post(PATH, ada_with("password", "twelve chars")).await.status(), 200);
}

#[tokio::test]
async fn rejections_follow_the_documented_order() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let mut everything_wrong = ada();
    everything_wrong["password"] = json!("short");
    everything_wrong["verification_callback_url"] = json!("https://evil.test");

    app.configure(json!({ "config": { "credential_enabled": false, "sign_up_enabled": false } })).await;
    assert_error(&app.client().post(PATH, everything_wrong.clone()).await, 400, "PASSWORD_AUTHENTICATION_NOT_ENABLED");
    app.configure(json!({ "config": { "credential_enabled": true } })).await;
    assert_error(&app.client().post(PATH, everything_wrong.clone()).await, 400, "REDIRECT_URL_NOT_WHITELISTED");
    everything_wrong["verification_callback_url"] = json!("http://localhost/");
    assert_error(&app.client().post(PATH, everything_wrong.clone()).await, 400, "SIGN_UP_NOT_ENABLED");
    app.configure(json!({ "config": { "sign_up_enabled": true } })).await;
    assert_error(&app.client().post(PATH, everything_wrong.clone()).await, 400, "PASSWORD_TOO_SHORT");
    assert_error(&app.client().post(PATH, ada()).await, 409, "USER_EMAIL_ALREADY_EXISTS");
}

#[tokio::test]
async fn bot_challenge_parameters_are_ignored_if_none_is_required() {
    let app = TestApp::start().await;
    let mut body = ada();
    body["bot_challenge_token"] = json!("token");
    body["bot_challenge_phase"] = json!("invisible");
    body["bot_challenge_unavailable"] = json!("true");
    assert_eq!(app.client().post(PATH, body.clone()).await.status(), 200);

    body["bot_challenge_phase"] = json!("hidden");
    body["bot_challenge_unavailable"] = json!("false");
    let answer = app.client().post(PATH, body).await;
    let problems = problems(&answer);
    assert!(problems.iter().any(|problem| problem.starts_with("body.bot_challenge_phase ")), "{problems:?}");
    assert!(problems.iter().any(|problem| problem.starts_with("body.bot_challenge_unavailable ")), "{problems:?}");
}

#[tokio::test]
async fn every_problem_of_a_body_is_reported() {
    let app = TestApp::start().await;
    let answer = app.client().post(PATH, json!({ "email": "nobody", "verification_callback_url": "/relative", "role": "admin" })).await;
    let problems = problems(&answer);
    for path in ["body.email ", "body.password ", "body.verification_callback_url ", "body.role "] {
        assert!(problems.iter().any(|problem| problem.starts_with(path)), "{path} in {problems:?}");
    }
}

#[tokio::test]
async fn an_anonymous_user_is_upgraded_and_keeps_its_id() {
    let app = TestApp::start().await;
    let visitor = stored::anonymous_user(&app).await;
    let caller = app.signed_in(&visitor).with("x-stack-allow-anonymous-user", "true");
    let answer = caller.post(PATH, ada()).await;
    assert_eq!((answer.status(), answer.json()["user_id"].as_str()), (200, Some(visitor.user_id.as_str())), "{}", answer.text());
    let me = app.signed_in(&SignedInUser::of("", &answer.json())).get("/api/v1/users/me").await.json();
    assert_eq!((&me["is_anonymous"], &me["primary_email"]), (&json!(false), &json!("ada@example.com")));
}

#[tokio::test]
async fn a_signed_in_user_can_sign_up_for_another_account() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let bob = json!({ "email": "bob@example.com", "password": "correct horse battery" });
    let answer = app.signed_in(&ada).post(PATH, bob).await;
    assert_eq!(answer.status(), 200);
    assert_ne!(answer.json()["user_id"], ada.user_id);
    let me = app.signed_in(&ada).get("/api/v1/users/me").await;
    assert_eq!(me.json()["primary_email"], "ada@example.com");
}

#[tokio::test]
async fn a_failed_sign_up_leaves_nothing_behind() {
    let app = TestApp::start().await;
    app.recorder.fail_write(0, "AccessDeniedException");
    let failed = app.client().post(PATH, ada_with("verification_callback_url", "http://localhost/")).await;
    assert_error(&failed, 500, "INTERNAL_ERROR");
    assert!(app.mails("ada@example.com").await.is_empty());
    let not_there = app.client().post("/api/v1/auth/password/sign-in", ada()).await;
    assert_error(&not_there, 400, "EMAIL_PASSWORD_MISMATCH");
    app.sign_up("ada@example.com").await;
}

#[tokio::test]
async fn client_access_is_required() {
    let app = TestApp::start().await;
    assert_takes_client_access(&app, "POST", PATH).await;
    assert_eq!(app.server().post(PATH, ada()).await.status(), 200);
}
