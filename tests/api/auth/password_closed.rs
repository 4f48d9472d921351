//! A hundred consecutive wrong passwords, over any number of days, close an account to passwords.

use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use model::user::User;
use serde_json::{Value, json};
use support::{Answer, SignedInUser, TestApp, refused};
use wire::id::UserId;

use super::assert_error;
use super::oauth_callback::{TOKEN, ada, exchange_of, flow, parameter, start};
use crate::stored::change_user;

const SIGN_IN: &str = "/api/v1/auth/password/sign-in";
const UPDATE: &str = "/api/v1/auth/password/update";
const PROVE: &str = "/api/v1/auth/sessions/current/reauthenticate";
const ADA: &str = "ada@example.com";
const RIGHT: &str = "correct horse battery";
const NEW: &str = "a better horse battery";

async fn sign_in(app: &TestApp, email: &str, password: &str) -> Answer {
    app.client().post(SIGN_IN, json!({ "email": email, "password": password })).await
}

/// Sends wrong passwords, at most five in ten minutes, and asserts that each is rejected as wrong.
async fn guess(app: &TestApp, email: &str, times: usize) {
    for _ in 0..times {
        let answer = sign_in(app, email, "wrong horse battery").await;
        assert_error(&answer, 400, "EMAIL_PASSWORD_MISMATCH");
        app.advance(SignedDuration::from_mins(2));
    }
}

async fn signed_up() -> (TestApp, SignedInUser) {
    let app = TestApp::start_with(Limits::off().with(Rule::SignInFailures, Some(Rate::new(10, 600)))).await;
    let ada = app.sign_up(ADA).await;
    (app, ada)
}

/// An account that a stranger's attempts have closed to passwords, and whose owner has received the
/// notice.
async fn closed() -> (TestApp, SignedInUser) {
    let (app, ada) = signed_up().await;
    guess(&app, ADA, 100).await;
    assert_error(&sign_in(&app, ADA, RIGHT).await, 400, "EMAIL_PASSWORD_MISMATCH");
    // Emails that are due at the same time arrive in any order. The notice is sent here, so it
    // arrives before all later emails.
    app.send_emails().await;
    (app, ada)
}

async fn user(app: &TestApp, user: &SignedInUser) -> User {
    app.app.store.user(app.project_id(), UserId::parse(&user.user_id).unwrap()).await.unwrap().unwrap().user
}

async fn notices(app: &TestApp) -> Vec<support::Mail> {
    app.mails(ADA).await.into_iter().filter(|mail| mail.0.subject == "Too many wrong passwords at Development").collect()
}

#[tokio::test]
async fn after_a_hundred_guesses_the_account_is_locked_and_the_owner_notified() {
    let (app, _) = signed_up().await;
    guess(&app, ADA, 99).await;
    assert!(notices(&app).await.is_empty());
    assert_eq!(sign_in(&app, ADA, RIGHT).await.status(), 200, "99 wrong passwords lock nothing, and a right one resets the count");
    guess(&app, ADA, 100).await;
    assert_error(&sign_in(&app, ADA, RIGHT).await, 400, "EMAIL_PASSWORD_MISMATCH");
    app.advance(SignedDuration::from_hours(24 * 365));
    guess(&app, ADA, 30).await;
    assert_error(&sign_in(&app, ADA, RIGHT).await, 400, "EMAIL_PASSWORD_MISMATCH");
    let told = notices(&app).await;
    assert_eq!(told.len(), 1);
    assert!(told[0].0.text.contains("1 January 2026") && told[0].0.html.contains("reset it"), "{}", told[0].0.text);
}

#[tokio::test]
async fn the_owner_is_notified_even_if_a_write_fails() {
    for write in 0.. {
        let app = TestApp::start().await;
        let ada = app.sign_up(ADA).await;
        change_user(&app, &ada, |user| user.wrong_passwords = 99).await;
        app.recorder.break_writes(write, 1, refused("ValidationException"));
        let answer = sign_in(&app, ADA, "wrong horse battery").await;
        if !app.recorder.is_done() {
            assert!(write > 1, "the account is not closed");
            break;
        }
        assert_eq!(answer.status(), 500, "{write}");
        guess(&app, ADA, 2).await;
        assert_error(&sign_in(&app, ADA, RIGHT).await, 400, "EMAIL_PASSWORD_MISMATCH");
        assert_eq!(notices(&app).await.len(), 1, "{write}");
    }
}

#[tokio::test]
async fn locked_accounts_look_like_unknown_addresses_and_wrong_passwords() {
    let (app, _) = closed().await;
    app.sign_up("open@example.com").await;
    app.sign_in_by_mail("mail@example.com").await;
    let mut told = Vec::new();
    for (email, password) in [(ADA, RIGHT), (ADA, NEW), ("open@example.com", NEW), ("mail@example.com", NEW), ("nobody@example.com", NEW)] {
        app.recorder.clear();
        let answer = sign_in(&app, email, password).await;
        let calls: Vec<String> = app.recorder.calls().into_iter().map(|(operation, _)| operation).collect();
        told.push((answer.status(), answer.json(), calls));
    }
    assert!(told.iter().all(|one| *one == told[0]), "{told:?}");
}

#[tokio::test]
async fn a_reset_or_another_sign_in_method_unlocks_the_account() {
    let (app, ada) = closed().await;
    let body = json!({ "email": ADA, "callback_url": "http://localhost:3000/reset" });
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", body).await.status(), 200);
    let reset = json!({ "code": app.last_mail(ADA).await.code(), "password": RIGHT });
    assert_eq!(app.client().post("/api/v1/auth/password/reset", reset).await.status(), 200);
    app.sign_in(ADA).await;
    assert_eq!(user(&app, &ada).await.wrong_passwords, 0);

    let (app, ada) = closed().await;
    let verified = json!({ "primary_email_verified": true, "otp_auth_enabled": true });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", ada.user_id), verified).await.status(), 200);
    assert_error(&sign_in(&app, ADA, RIGHT).await, 400, "EMAIL_PASSWORD_MISMATCH");
    app.sign_in_by_mail(ADA).await;
    app.sign_in(ADA).await;

    let (app, ada) = closed().await;
    let password = json!({ "password": RIGHT });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", ada.user_id), password).await.status(), 200);
    app.sign_in(ADA).await;
}

#[tokio::test]
async fn a_provider_sign_in_unlocks_the_account() {
    let (app, provider) = start().await;
    let sign_in_there = async || {
        let code = parameter(&flow(&app, &provider, ada(), &[]).await, "code");
        let answer = app.client().post(TOKEN, exchange_of(&app, &code)).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
    };
    sign_in_there().await;
    let id = app.server().get("/api/v1/users").await.json()["items"][0]["id"].as_str().unwrap().to_owned();
    let password = json!({ "password": RIGHT });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{id}"), password).await.status(), 200);
    guess(&app, ADA, 100).await;
    assert_error(&sign_in(&app, ADA, RIGHT).await, 400, "EMAIL_PASSWORD_MISMATCH");
    sign_in_there().await;
    let ada = app.sign_in(ADA).await;

    // Wrong values of `old_password` in a password change are counted separately, and can also
    // close the account to passwords.
    let change = |old: &str| json!({ "old_password": old, "new_password": NEW });
    for _ in 0..100 {
        let refused = app.signed_in(&ada).post(UPDATE, change("wrong horse battery")).await;
        assert_error(&refused, 400, "PASSWORD_CONFIRMATION_MISMATCH");
    }
    assert_error(&app.signed_in(&ada).post(UPDATE, change(RIGHT)).await, 400, "PASSWORD_CONFIRMATION_MISMATCH");
    sign_in_there().await;
    assert_eq!(app.signed_in(&ada).post(UPDATE, change(RIGHT)).await.status(), 200);
}

#[tokio::test]
async fn a_signed_in_owner_can_change_the_password_of_a_locked_account() {
    let (app, ada) = closed().await;
    let caller = app.signed_in(&ada).without("x-stack-access-token");
    let refreshed = caller.post("/api/v1/auth/sessions/current/refresh", json!({})).await.json();
    let ada = SignedInUser { access_token: refreshed["access_token"].as_str().unwrap().to_owned(), ..ada };
    let change = json!({ "old_password": RIGHT, "new_password": NEW });
    assert_eq!(app.signed_in(&ada).post(UPDATE, change).await.status(), 200);
    app.advance(SignedDuration::from_mins(10));
    assert_eq!(sign_in(&app, ADA, NEW).await.status(), 200);
}

#[tokio::test]
async fn a_stolen_session_gets_a_hundred_guesses_at_the_old_password() {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let change = |old: &str| json!({ "old_password": old, "new_password": NEW });
    let prove = |password: &str| json!({ "password": password });
    for _ in 0..50 {
        for (path, body) in [(UPDATE, change("wrong horse battery")), (PROVE, prove("wrong horse battery"))] {
            assert_error(&app.signed_in(&ada).post(path, body).await, 400, "PASSWORD_CONFIRMATION_MISMATCH");
        }
    }
    for (path, body) in [(UPDATE, change(RIGHT)), (PROVE, prove(RIGHT))] {
        assert_error(&app.signed_in(&ada).post(path, body).await, 400, "PASSWORD_CONFIRMATION_MISMATCH");
    }
    // The owner's password still works as before.
    app.sign_in(ADA).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_guesses_within_the_rate_limit_are_counted() {
    let (app, ada) = signed_up().await;
    let client = app.client();
    let guesses: Vec<_> = (0..150)
        .map(|n| {
            let (client, body) = (client.clone(), json!({ "email": ADA, "password": format!("wrong horse {n}") }));
            tokio::spawn(async move { client.post(SIGN_IN, body).await.status() })
        })
        .collect();
    for guess in guesses {
        assert!(matches!(guess.await.unwrap(), 400 | 429));
    }
    assert_eq!(user(&app, &ada).await.wrong_passwords, 10);
}

#[tokio::test]
async fn a_user_of_an_earlier_version_is_counted_too() {
    let (app, ada) = signed_up().await;
    let remove: Value = json!({
        "TableName": gateway::engine::TABLE,
        "Key": { "pk": { "S": format!("U#{}#{}", app.project_id(), ada.user_id) }, "sk": { "S": "USER" } },
        "UpdateExpression": "REMOVE d.wrong_passwords, d.wrong_old_passwords",
    });
    app.database().update_item(serde_json::from_value(remove).unwrap()).unwrap();
    guess(&app, ADA, 2).await;
    assert_eq!(user(&app, &ada).await.wrong_passwords, 2);
    app.sign_in(ADA).await;
    assert_eq!(user(&app, &ada).await.wrong_passwords, 0);
}
