//! Many concurrent requests. An address signs up only once, a code works only once, and every guess
//! at a code is counted. All refreshes succeed, and a password change ends all other sessions.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use support::until::until;
use support::{Answer, Caller, SignedInUser, TestApp};

const SIGN_UP: &str = "/api/v1/auth/password/sign-up";
const SIGN_IN: &str = "/api/v1/auth/password/sign-in";
const OTP_SIGN_IN: &str = "/api/v1/auth/otp/sign-in";
const CHECK: &str = "/api/v1/auth/otp/sign-in/check-code";
const UPDATE: &str = "/api/v1/auth/password/update";
const REFRESH: &str = "/api/v1/auth/sessions/current/refresh";
const SESSIONS: &str = "/api/v1/auth/sessions";
const PASSWORD: &str = "correct horse battery";
const NEW: &str = "a better horse battery";

/// Sends all requests concurrently, using all threads.
async fn at_once(requests: impl IntoIterator<Item = (Caller, &'static str, Value)>) -> Vec<Answer> {
    let requests = requests.into_iter().map(|(caller, path, body)| tokio::spawn(async move { caller.post(path, body).await }));
    let mut answers = Vec::new();
    for request in requests.collect::<Vec<_>>() {
        answers.push(request.await.unwrap());
    }
    answers
}

/// The number of responses for each error code. `OK` stands for success.
fn codes(answers: &[Answer]) -> BTreeMap<String, usize> {
    let mut codes = BTreeMap::new();
    for answer in answers {
        *codes.entry(if answer.status() == 200 { "OK".to_owned() } else { answer.code() }).or_default() += 1;
    }
    codes
}

fn counted(codes: &[(&str, usize)]) -> BTreeMap<String, usize> {
    codes.iter().map(|(code, count)| ((*code).to_owned(), *count)).collect()
}

/// The number of items of a kind in the table.
fn items(app: &TestApp, pk: &str, sk: &str) -> usize {
    app.table().keys().filter(|key| key.0.starts_with(pk) && key.1.starts_with(sk)).count()
}

async fn refreshes(app: &TestApp, user: &SignedInUser) -> bool {
    app.client().with("x-stack-refresh-token", &user.refresh_token).post(REFRESH, json!({})).await.status() == 200
}

#[tokio::test(flavor = "multi_thread")]
async fn of_200_concurrent_sign_ups_with_an_address_one_succeeds() {
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "password": PASSWORD });
    let answers = at_once((0..200).map(|_| (app.client(), SIGN_UP, body.clone()))).await;
    assert_eq!(codes(&answers), counted(&[("OK", 1), ("USER_EMAIL_ALREADY_EXISTS", 199)]));
    let winner = answers.iter().find(|answer| answer.status() == 200).unwrap().json();
    assert_eq!(app.sign_in("ada@example.com").await.user_id, winner["user_id"].as_str().unwrap());
    assert_eq!((items(&app, "U#", "USER"), items(&app, "E#", "CLAIM"), items(&app, "U#", "SESSION#")), (1, 1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_200_concurrent_redemptions_of_a_code_one_succeeds() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
    let code = app.sign_in_code("ada@example.com").await;
    let answers = at_once((0..200).map(|_| (app.client(), OTP_SIGN_IN, json!({ "code": code })))).await;
    let mut codes = codes(&answers);
    assert_eq!(codes.remove("OK"), Some(1), "{codes:?}");
    // A redeemed code is reported as used. Until it is redeemed, the code is reported as exhausted
    // from the twenty-first attempt on.
    let late = ["VERIFICATION_CODE_ALREADY_USED", "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED"];
    assert!(codes.keys().all(|code| late.contains(&code.as_str())) && codes.values().sum::<usize>() == 199, "{codes:?}");
    assert_eq!((items(&app, "U#", "USER"), items(&app, "U#", "SESSION#")), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_concurrent_refreshes_all_succeed() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let answers = at_once((0..100).map(|_| (app.signed_in(&ada), REFRESH, json!({})))).await;
    assert_eq!(codes(&answers), counted(&[("OK", 100)]));
    let token = answers[99].json()["access_token"].as_str().unwrap().to_owned();
    assert_eq!(app.client().with("x-stack-access-token", &token).get("/api/v1/users/me").await.json()["id"], ada.user_id.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_change_ends_sessions_used_or_started_concurrently() {
    for round in 0..20 {
        let app = TestApp::start().await;
        let (ada, other) = (app.sign_up("ada@example.com").await, app.sign_in("ada@example.com").await);
        let change = {
            let (caller, recorder) = (app.signed_in(&ada), Arc::clone(&app.recorder));
            recorder.clear();
            tokio::spawn(async move {
                // In each round, the change is sent a little later. Each of the other requests
                // makes at least two calls to the table.
                until("the other requests make calls", || recorder.count() >= 2 * round).await;
                caller.post(UPDATE, json!({ "old_password": PASSWORD, "new_password": NEW })).await
            })
        };
        let sign_in = json!({ "email": "ada@example.com", "password": PASSWORD });
        let refresh = app.client().with("x-stack-refresh-token", &other.refresh_token);
        let requests =
            (0..24).map(|n| if n % 2 == 0 { (refresh.clone(), REFRESH, json!({})) } else { (app.client(), SIGN_IN, sign_in.clone()) });
        let answers = at_once(requests).await;
        assert_eq!(change.await.unwrap().status(), 200, "round {round}");

        assert!(refreshes(&app, &ada).await, "round {round}: the session that changed the password stays signed in");
        assert!(!refreshes(&app, &other).await, "round {round}");
        for answer in answers.iter().filter(|answer| answer.status() == 200 && answer.json()["refresh_token"].is_string()) {
            let begun = SignedInUser::of("ada@example.com", &answer.json());
            assert!(!refreshes(&app, &begun).await, "round {round}: a session of the old password is still valid");
        }
        let sessions = app.signed_in(&ada).get(SESSIONS).await.json();
        assert_eq!(sessions["items"].as_array().unwrap().len(), 1, "round {round}: {sessions}");
    }
}

/// Guesses the typed part of a code concurrently in both operations. All guesses are wrong.
async fn guess(app: &TestApp, code: &str, guesses: usize) {
    let (typed, nonce) = code.split_at(6);
    let wrong = (0..).map(|number| format!("{number:06}")).filter(|guess| guess != typed).take(guesses);
    let requests = wrong.enumerate().map(|(number, guess)| {
        (app.client(), if number % 2 == 0 { OTP_SIGN_IN } else { CHECK }, json!({ "code": format!("{guess}{nonce}") }))
    });
    let answers = at_once(requests).await;
    assert_eq!(answers.len(), guesses);
    for answer in answers {
        let told = if answer.status() == 200 { answer.json() == json!({ "is_code_valid": false }) } else { answer.status() == 404 };
        assert!(told, "{}", answer.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_guesses_are_all_counted() {
    for (guesses, is_open) in [(19, true), (20, false), (100, false)] {
        let app = TestApp::start().await;
        app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
        let code = app.sign_in_code("ada@example.com").await;
        guess(&app, &code, guesses).await;
        let right = app.client().post(OTP_SIGN_IN, json!({ "code": code })).await;
        if is_open {
            assert_eq!(right.status(), 200, "{}", right.text());
            continue;
        }
        // The correct code no longer works in either operation.
        assert_eq!((right.status(), right.code().as_str()), (400, "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED"), "{guesses}");
        assert_eq!(app.client().post(CHECK, json!({ "code": code })).await.json(), json!({ "is_code_valid": false }));
        assert_eq!(items(&app, "U#", "SESSION#"), 0);
        assert!(!app.sign_in_by_mail("ada@example.com").await.access_token.is_empty(), "the recipient cannot sign in with another code");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_code_among_concurrent_guesses_signs_in_at_most_once() {
    for round in 0..5 {
        let app = TestApp::start().await;
        app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
        let code = app.sign_in_code("ada@example.com").await;
        let nonce = &code[6..];
        let guesses = (0..60).map(|number| {
            let guess = if number % 8 == round { code.clone() } else { format!("{number:06}{nonce}") };
            (app.client(), OTP_SIGN_IN, json!({ "code": guess }))
        });
        let codes = codes(&at_once(guesses).await);
        let signed_in = codes.get("OK").copied().unwrap_or_default();
        assert!(signed_in <= 1, "{codes:?}");
        assert_eq!((items(&app, "U#", "SESSION#"), items(&app, "U#", "USER")), (signed_in, signed_in));
    }
}
