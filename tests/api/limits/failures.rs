//! Wrong passwords at sign-in are counted by the email address in the request, even if the address
//! does not have an account. Wrong values of `old_password` in a password change are counted
//! separately, and so are wrong second factors.

use futures_util::future::join_all;
use jiff::SignedDuration;
use model::limit::Rule;
use serde_json::{Value, json};
use support::TestApp;
use support::until::interrupted;

use super::*;

const UPDATE: &str = "/api/v1/auth/password/update";
const RIGHT: &str = "correct horse battery";

fn sign_in(email: &str, password: &str) -> Value {
    json!({ "email": email, "password": password })
}

async fn app() -> TestApp {
    let app = TestApp::start_with(only(Rule::SignInFailures, 10, 600)).await;
    app.sign_up("ada@example.com").await;
    app
}

#[tokio::test]
async fn after_10_wrong_passwords_the_right_one_is_rejected_too() {
    let app = app().await;
    let client = app.client();
    let (let_through, refused) = exhaust(|_| client.post(SIGN_IN, sign_in("ada@example.com", "wrong horse battery"))).await;
    assert_eq!(let_through, 10);
    let seconds = assert_refused(&refused, "sign-in", Rule::SignInFailures.standard());
    let right = client.post(SIGN_IN, sign_in(" ADA@example.com", RIGHT)).await;
    assert_refused(&right, "sign-in", Rule::SignInFailures.standard());
    // Neither another IP address nor server access bypasses the limit.
    assert!(is_refused(&at(app.client(), "203.0.113.8").post(SIGN_IN, sign_in("ada@example.com", RIGHT)).await));
    assert!(is_refused(&app.server().post(SIGN_IN, sign_in("ada@example.com", RIGHT)).await));

    app.advance(SignedDuration::from_secs(seconds));
    assert_eq!(client.post(SIGN_IN, sign_in("ada@example.com", RIGHT)).await.status(), 200);
}

#[tokio::test]
async fn unknown_accounts_are_limited_like_existing_ones() {
    let app = app().await;
    app.sign_in_by_mail("mail@example.com").await;
    let client = app.client();
    for email in ["ada@example.com", "mail@example.com", "nobody@example.com", "no address at all"] {
        let (let_through, refused) = exhaust(|_| client.post(SIGN_IN, sign_in(email, "wrong horse battery"))).await;
        assert_eq!(let_through, 10, "{email}");
        assert_refused(&refused, "sign-in", Rule::SignInFailures.standard());
    }
}

#[tokio::test]
async fn right_passwords_are_not_counted() {
    let app = app().await;
    for _ in 0..30 {
        app.sign_in("ada@example.com").await;
    }
    let (let_through, _) = exhaust(|_| {
        let client = app.client();
        async move { client.post(SIGN_IN, sign_in("ada@example.com", "wrong horse battery")).await }
    })
    .await;
    assert_eq!(let_through, 10);
}

#[tokio::test]
async fn guesses_at_the_old_password_are_counted_separately_from_sign_in() {
    let app = app().await;
    let ada = app.sign_in("ada@example.com").await;
    let client = app.signed_in(&ada);
    let change = |old: &str| json!({ "old_password": old, "new_password": "a better horse battery" });
    let (let_through, refused) = exhaust(|_| client.post(UPDATE, change("wrong horse battery"))).await;
    assert_eq!(let_through, 10);
    assert_refused(&refused, "sign-in", Rule::SignInFailures.standard());
    assert!(is_refused(&client.post(UPDATE, change(RIGHT)).await));
    assert_eq!(client.post(SIGN_IN, sign_in("ada@example.com", RIGHT)).await.status(), 200);

    app.advance(SignedDuration::from_secs(599));
    app.advance(SignedDuration::from_secs(1));
    let ada = app.sign_in("ada@example.com").await;
    assert_eq!(app.signed_in(&ada).post(UPDATE, change(RIGHT)).await.status(), 200);
}

#[tokio::test]
async fn guesses_at_sign_in_do_not_lock_out_the_owner() {
    let app = app().await;
    let ada = app.sign_in("ada@example.com").await;
    let lock = async |wanted: usize| {
        let (wrong, _) = exhaust(|_| async { app.client().post(SIGN_IN, sign_in("ada@example.com", "wrong horse battery")).await }).await;
        assert_eq!(wrong, wanted);
    };
    lock(10).await;
    // A signed-in user can still change the password.
    let change = json!({ "old_password": RIGHT, "new_password": "a better horse battery" });
    assert_eq!(app.signed_in(&ada).post(UPDATE, change).await.status(), 200);
    assert!(is_refused(&app.client().post(SIGN_IN, sign_in("ada@example.com", "a better horse battery")).await));
    // The link in an email still signs in.
    let user = json!({ "primary_email_verified": true, "otp_auth_enabled": true });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", ada.user_id), user).await.status(), 200);
    app.sign_in_by_mail("ada@example.com").await;
    // After a reset, the new password works immediately, and strangers can guess ten times again.
    assert_eq!(app.client().post(SEND_RESET, reset_of("ada@example.com")).await.status(), 200);
    let reset = json!({ "code": app.last_mail("ada@example.com").await.code(), "password": RIGHT });
    assert_eq!(app.client().post("/api/v1/auth/password/reset", reset).await.status(), 200);
    app.sign_in("ada@example.com").await;
    lock(10).await;
}

#[tokio::test]
async fn a_malformed_address_locks_no_account() {
    let app = app().await;
    let ada = app.sign_in("ada@example.com").await;
    let secret = json!({ "totp_secret_base64": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=" });
    assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", secret).await.status(), 200);
    for name in ["old-password:{}", "second-factor:{}", "old password of {}", "second factor of {}"] {
        let name = name.replace("{}", &ada.user_id);
        exhaust(|_| async { app.client().post(SIGN_IN, sign_in(&name, "wrong horse battery")).await }).await;
    }
    let required = app.client().post(SIGN_IN, sign_in("ada@example.com", RIGHT)).await;
    let attempt = required.json()["details"]["attempt_code"].clone();
    let body = json!({ "type": "totp", "code": attempt, "totp": "000000" });
    assert_eq!(app.client().post("/api/v1/auth/mfa/sign-in", body).await.code(), "INVALID_TOTP_CODE");
    let change = json!({ "old_password": RIGHT, "new_password": "a better horse battery" });
    assert_eq!(app.signed_in(&ada).post(UPDATE, change).await.status(), 200);
}

/// The number of sessions, including the session from the sign-up in [`app`].
fn sessions(app: &TestApp) -> usize {
    app.table().into_keys().filter(|(_, sk)| sk.starts_with("SESSION#")).count()
}

/// A correct password counts as an attempt until its session is written, so concurrent guesses
/// cannot use this attempt.
#[tokio::test]
async fn a_right_password_is_one_of_ten_attempts_until_it_signs_in() {
    let app = app().await;
    let client = app.client();
    let send = async |password| client.post(SIGN_IN, sign_in("ada@example.com", password)).await;
    // A call to the table is recorded when it starts, and takes a round trip.
    app.recorder.clear();
    app.recorder.measure();
    tokio::time::pause();
    let is_written = || app.recorder.writes().iter().any(|(_, body)| body.contains("SESSION#"));
    let wrong = join_all((0..10).map(|_| send("wrong horse battery")));
    let (right, wrong) = interrupted(send(RIGHT), is_written, wrong).await;
    tokio::time::resume();
    app.recorder.clear();
    let wrong = wrong.unwrap();
    assert_eq!(wrong.iter().filter(|answer| answer.code() == "EMAIL_PASSWORD_MISMATCH").count(), 9);
    assert_eq!(wrong.iter().filter(|answer| is_refused(answer)).count(), 1);
    assert_eq!((right.status(), sessions(&app)), (200, 2), "{}", right.text());
    // The count of the correct password is taken back, so one guess is left.
    assert_eq!(send("wrong horse battery").await.code(), "EMAIL_PASSWORD_MISMATCH");
    assert!(is_refused(&send(RIGHT).await));
}

#[tokio::test]
async fn an_outdated_hash_is_replaced_only_if_the_sign_in_succeeds() {
    for status in [200, 429] {
        let app = app().await;
        let ada = app.sign_in("ada@example.com").await;
        let imported = bcrypt::hash(RIGHT, 4).unwrap();
        let change = json!({ "password_hash": imported });
        assert_eq!(app.server().patch(&format!("/api/v1/users/{}", ada.user_id), change).await.status(), 200);
        let right = async || app.client().post(SIGN_IN, sign_in("ada@example.com", RIGHT)).await;
        let first = right().await;
        assert_eq!(first.status(), 200, "{}", first.text());
        if status == 429 {
            assert_eq!(
                app.server().patch(&format!("/api/v1/users/{}", ada.user_id), json!({ "password_hash": imported })).await.status(),
                200
            );
        }
        exhaust(|_| async { app.client().post(SIGN_IN, sign_in("ada@example.com", "wrong horse battery")).await }).await;
        assert_eq!(right().await.status(), 429);
        let id = wire::id::UserId::parse(&ada.user_id).unwrap();
        let user = app.app.store.user(app.project_id(), id).await.unwrap().unwrap().user;
        let is_kept = serde_json::to_value(user.password).unwrap() == imported;
        assert_eq!((is_kept, user.wrong_passwords), (status == 429, 10));
    }
}

/// The owner's programs sign in at the same time, and the service accepts all of them.
#[tokio::test(flavor = "multi_thread")]
async fn forty_right_passwords_at_once_all_sign_in() {
    let app = app().await;
    let client = app.client();
    let answers = join_all((0..40).map(|_| client.post(SIGN_IN, sign_in("ada@example.com", RIGHT)))).await;
    assert!(answers.iter().all(|answer| answer.status() == 200), "{:?}", answers.iter().map(Answer::status).collect::<Vec<_>>());
    exhaust(|_| async { client.post(SIGN_IN, sign_in("ada@example.com", "wrong horse battery")).await }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_guesses_at_most_10_are_evaluated() {
    let app = app().await;
    let client = app.client();
    let guesses: Vec<_> = (0..100)
        .map(|number| {
            let client = client.clone();
            // One password is right. The right password succeeds at most once, and never after 10
            // wrong passwords were reported.
            let password = if number == 50 { RIGHT.to_owned() } else { format!("wrong horse {number}") };
            tokio::spawn(async move { client.post(SIGN_IN, sign_in("ada@example.com", &password)).await })
        })
        .collect();
    let (mut wrong, mut signed_in) = (0, 0);
    for guess in guesses {
        let answer = guess.await.unwrap();
        match answer.status() {
            200 => signed_in += 1,
            429 => {}
            _ => {
                assert_eq!(answer.code(), "EMAIL_PASSWORD_MISMATCH");
                wrong += 1;
            }
        }
    }
    assert_eq!(wrong, 10);
    assert_eq!(sessions(&app), 1 + signed_in, "a right password beyond the limit leaves a session");
    assert!(is_refused(&client.post(SIGN_IN, sign_in("ada@example.com", RIGHT)).await));
}

#[tokio::test]
async fn totp_guesses_are_counted_across_attempts() {
    let app = app().await;
    let ada = app.sign_in("ada@example.com").await;
    let secret = json!({ "totp_secret_base64": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=" });
    assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", secret).await.status(), 200);
    let (let_through, refused) = exhaust(|_| async {
        let required = app.client().post(SIGN_IN, sign_in("ada@example.com", RIGHT)).await;
        let attempt = required.json()["details"]["attempt_code"].clone();
        app.client().post("/api/v1/auth/mfa/sign-in", json!({ "type": "totp", "code": attempt, "totp": "000000" })).await
    })
    .await;
    assert_eq!(let_through, 10);
    assert_refused(&refused, "sign-in", Rule::SignInFailures.standard());
    // Wrong codes from an authenticator app do not close the account to its password.
    assert_eq!(app.client().post(SIGN_IN, sign_in("ada@example.com", RIGHT)).await.status(), 400);
}
