//! Wrong passwords for one account: counted by the address that was given, whether or not there is an account.

use jiff::SignedDuration;
use model::limit::Rule;
use serde_json::{Value, json};
use support::TestApp;

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
async fn after_10_wrong_passwords_an_account_is_closed_for_the_right_one_too() {
    let app = app().await;
    let client = app.client();
    let (let_through, refused) = exhaust(|_| client.post(SIGN_IN, sign_in("ada@example.com", "wrong horse battery"))).await;
    assert_eq!(let_through, 10);
    let seconds = assert_refused(&refused, "sign-in", Rule::SignInFailures.standard());
    let right = client.post(SIGN_IN, sign_in(" ADA@example.com", RIGHT)).await;
    assert_refused(&right, "sign-in", Rule::SignInFailures.standard());
    // Neither another address nor server access opens it.
    assert!(is_refused(&at(app.client(), "203.0.113.8").post(SIGN_IN, sign_in("ada@example.com", RIGHT)).await));
    assert!(is_refused(&app.server().post(SIGN_IN, sign_in("ada@example.com", RIGHT)).await));

    app.advance(SignedDuration::from_secs(seconds));
    assert_eq!(client.post(SIGN_IN, sign_in("ada@example.com", RIGHT)).await.status(), 200);
}

#[tokio::test]
async fn an_account_that_does_not_exist_is_refused_like_one_that_does() {
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
async fn guesses_at_the_old_password_are_counted_apart_from_those_at_sign_in() {
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
async fn a_stranger_who_guesses_at_sign_in_does_not_lock_out_the_owner() {
    let app = app().await;
    let ada = app.sign_in("ada@example.com").await;
    let lock = async |wanted: usize| {
        let (wrong, _) = exhaust(|_| async { app.client().post(SIGN_IN, sign_in("ada@example.com", "wrong horse battery")).await }).await;
        assert_eq!(wrong, wanted);
    };
    lock(10).await;
    // Whoever is signed in changes the password.
    let change = json!({ "old_password": RIGHT, "new_password": "a better horse battery" });
    assert_eq!(app.signed_in(&ada).post(UPDATE, change).await.status(), 200);
    assert!(is_refused(&app.client().post(SIGN_IN, sign_in("ada@example.com", "a better horse battery")).await));
    // A link by mail signs in.
    let user = json!({ "primary_email_verified": true, "otp_auth_enabled": true });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", ada.user_id), user).await.status(), 200);
    app.sign_in_by_mail("ada@example.com").await;
    // A reset lets the new password in at once, and strangers have ten guesses again.
    assert_eq!(app.client().post(SEND_RESET, reset_of("ada@example.com")).await.status(), 200);
    let reset = json!({ "code": app.last_mail("ada@example.com").await.code(), "password": RIGHT });
    assert_eq!(app.client().post("/api/v1/auth/password/reset", reset).await.status(), 200);
    app.sign_in("ada@example.com").await;
    lock(10).await;
}

#[tokio::test]
async fn what_is_no_address_closes_nothing_but_itself() {
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

#[tokio::test(flavor = "multi_thread")]
async fn of_guesses_that_come_at_once_no_more_than_10_are_told_apart() {
    let app = app().await;
    let client = app.client();
    let guesses: Vec<_> = (0..100)
        .map(|number| {
            let client = client.clone();
            // One of them is right: it is let in at most once, and never after 10 wrong ones were told.
            let password = if number == 50 { RIGHT.to_owned() } else { format!("wrong horse {number}") };
            tokio::spawn(async move { client.post(SIGN_IN, sign_in("ada@example.com", &password)).await })
        })
        .collect();
    let mut wrong = 0;
    for guess in guesses {
        let answer = guess.await.unwrap();
        match answer.status() {
            200 | 429 => {}
            _ => {
                assert_eq!(answer.code(), "EMAIL_PASSWORD_MISMATCH");
                wrong += 1;
            }
        }
    }
    assert_eq!(wrong, 10);
    assert!(is_refused(&client.post(SIGN_IN, sign_in("ada@example.com", RIGHT)).await));
}

#[tokio::test]
async fn guesses_at_the_second_factor_are_counted_over_all_attempts() {
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
    // The password alone is not closed by it.
    assert_eq!(app.client().post(SIGN_IN, sign_in("ada@example.com", RIGHT)).await.status(), 400);
}
