//! `/api/v1/auth/mfa/authenticators`, which sets up and manages a user's authenticator apps.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{Answer, SignedInUser, TestApp, authenticator_code};
use wire::id::UserId;

use super::mfa_recovery_codes::{left, recover};
use super::mfa_sign_in::{attempt, sign_in, user_with_app};
use super::{assert_error, assert_takes_client_access, problems};

const PATH: &str = "/api/v1/auth/mfa/authenticators";
const VERIFY: &str = "/api/v1/auth/mfa/authenticators/verify";
const ME: &str = "/api/v1/users/me";
const ADA: &str = "ada@example.com";

/// An authenticator app that is set up or being set up.
pub(crate) struct Phone {
    pub(crate) code: String,
    secret: Vec<u8>,
}

impl Phone {
    /// The app whose setup was started by this response.
    pub(crate) fn of(begun: &Value) -> Self {
        Self { code: begun["code"].as_str().unwrap().to_owned(), secret: from_base32(begun["secret_base32"].as_str().unwrap()) }
    }

    pub(crate) fn shows(&self, app: &TestApp) -> String {
        authenticator_code(&self.secret, app.now().as_second())
    }
}

fn from_base32(text: &str) -> Vec<u8> {
    let value = |letter: u8| u64::try_from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".iter().position(|other| *other == letter).unwrap()).unwrap();
    let block = |letters: &[u8]| letters.iter().fold(0, |sum, letter| sum << 5 | value(*letter)).to_be_bytes()[3..].to_vec();
    text.as_bytes().chunks(8).flat_map(block).collect()
}

pub(crate) async fn begin(app: &TestApp, user: &SignedInUser) -> Phone {
    let answer = app.signed_in(user).post(PATH, json!({})).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    Phone::of(&answer.json())
}

pub(crate) async fn verify(app: &TestApp, user: &SignedInUser, code: &str, totp: &str) -> Answer {
    app.signed_in(user).post(VERIFY, json!({ "code": code, "totp": totp })).await
}

/// Sets up an app, and returns it with the response.
pub(crate) async fn set_up(app: &TestApp, user: &SignedInUser) -> (Phone, Value) {
    let phone = begin(app, user).await;
    let answer = verify(app, user, &phone.code, &phone.shows(app)).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    (phone, answer.json())
}

async fn apps(app: &TestApp, user: &SignedInUser) -> Vec<Value> {
    let answer = app.signed_in(user).get(PATH).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()["items"].as_array().unwrap().clone()
}

async fn requires_code(app: &TestApp, user: &SignedInUser) -> Value {
    app.signed_in(user).get(ME).await.json()["requires_totp_mfa"].clone()
}

fn next_step(app: &TestApp) {
    app.advance(SignedDuration::from_secs(30));
}

#[tokio::test]
async fn an_app_is_set_up_by_one_of_its_codes_and_comes_with_recovery_codes() {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let begun = app.signed_in(&ada).post(PATH, json!({})).await.json();
    let url = begun["otpauth_url"].as_str().unwrap();
    let secret = begun["secret_base32"].as_str().unwrap();
    assert!(url.starts_with("otpauth://totp/") && url.contains(&format!("?secret={secret}&issuer=")), "{url}");
    assert!(url.contains("ada%40example.com"), "{url}");
    assert_eq!(begun["expires_at_millis"], app.now().as_millisecond() + 600_000);
    // So far, the user's account is unchanged.
    assert_eq!((requires_code(&app, &ada).await, apps(&app, &ada).await), (json!(false), vec![]));
    let table = format!("{:?}", app.table());
    let base64 = STANDARD.encode(from_base32(secret));
    assert!(!table.contains(secret) && !table.contains(&base64) && !table.contains(begun["code"].as_str().unwrap()));

    let phone = Phone { code: begun["code"].as_str().unwrap().to_owned(), secret: from_base32(secret) };
    let totp = phone.shows(&app);
    let body = json!({ "code": phone.code, "totp": format!(" {totp} "), "name": "Phone" });
    let added = app.signed_in(&ada).post(VERIFY, body).await;
    assert_eq!(added.status(), 201, "{}", added.text());
    let mut added = added.json();
    let codes: Vec<String> = serde_json::from_value(added.as_object_mut().unwrap().remove("recovery_codes").unwrap()).unwrap();
    assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), 10);
    let now = app.now().as_millisecond();
    assert_eq!(added, json!({ "id": added["id"], "name": "Phone", "created_at_millis": now, "last_used_at_millis": now }));
    assert_eq!(apps(&app, &ada).await, [added]);
    assert_eq!((requires_code(&app, &ada).await, left(&app, &ada).await), (json!(true), json!(10)));

    // The code that was used for the setup cannot be used to sign in.
    let waiting = attempt(&app, ADA).await;
    assert_error(&sign_in(&app, &waiting, &totp).await, 400, "INVALID_TOTP_CODE");
    next_step(&app);
    assert_eq!(sign_in(&app, &waiting, &phone.shows(&app)).await.status(), 200);
    assert_eq!(apps(&app, &ada).await[0]["last_used_at_millis"], app.now().as_millisecond());
    assert_eq!(recover(&app, &codes[3]).await.status(), 200);
}

#[tokio::test]
async fn a_setup_works_once_for_its_user_and_for_ten_minutes() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up(ADA).await, app.sign_up("bob@example.com").await);
    let phone = begin(&app, &ada).await;
    assert_error(&verify(&app, &ada, &phone.code, "000000").await, 400, "INVALID_TOTP_CODE");
    assert_error(&verify(&app, &ada, &phone.code, "nonsense").await, 400, "INVALID_TOTP_CODE");
    assert_error(&verify(&app, &bob, &phone.code, &phone.shows(&app)).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_error(&verify(&app, &ada, &"a".repeat(45), &phone.shows(&app)).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_eq!(verify(&app, &ada, &phone.code, &phone.shows(&app)).await.status(), 201);
    next_step(&app);
    assert_error(&verify(&app, &ada, &phone.code, &phone.shows(&app)).await, 409, "VERIFICATION_CODE_ALREADY_USED");
    assert_eq!((apps(&app, &ada).await.len(), apps(&app, &bob).await.len()), (1, 0));

    let late = begin(&app, &bob).await;
    app.advance(SignedDuration::from_mins(10));
    let bob = app.sign_in("bob@example.com").await;
    assert_error(&verify(&app, &bob, &late.code, &late.shows(&app)).await, 400, "VERIFICATION_CODE_EXPIRED");
    assert_eq!(requires_code(&app, &bob).await, false);
}

#[tokio::test]
async fn wrong_codes_end_a_setup_after_twenty_tries() {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let phone = begin(&app, &ada).await;
    for _ in 0..20 {
        assert_error(&verify(&app, &ada, &phone.code, "000000").await, 400, "INVALID_TOTP_CODE");
    }
    assert_error(&verify(&app, &ada, &phone.code, &phone.shows(&app)).await, 400, "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED");
    assert_eq!(requires_code(&app, &ada).await, false);
}

#[tokio::test]
async fn a_setup_ends_when_the_user_ends_the_other_sessions() {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let phone = begin(&app, &ada).await;
    assert_eq!(app.signed_in(&ada).request("DELETE", "/api/v1/auth/sessions").send().await.status(), 200);
    assert_error(&verify(&app, &ada, &phone.code, &phone.shows(&app)).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_eq!(requires_code(&app, &ada).await, false);
}

#[tokio::test]
async fn a_code_of_any_of_five_apps_signs_in_and_none_twice() {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let mut phones = Vec::new();
    for number in 0..5 {
        let (phone, added) = set_up(&app, &ada).await;
        assert_eq!(added["recovery_codes"].is_null(), number > 0, "{added}");
        phones.push(phone);
    }
    assert_eq!(assert_error(&app.signed_in(&ada).post(PATH, json!({})).await, 400, "TOO_MANY_AUTHENTICATORS"), json!({ "max": 5 }));
    next_step(&app);
    for (number, phone) in phones.iter().enumerate() {
        let totp = phone.shows(&app);
        assert_eq!(sign_in(&app, &attempt(&app, ADA).await, &totp).await.status(), 200, "{number}");
        assert_error(&sign_in(&app, &attempt(&app, ADA).await, &totp).await, 400, "INVALID_TOTP_CODE");
    }
    // The last use of each app is recorded separately.
    let used: Vec<Value> = apps(&app, &ada).await.iter().map(|app| app["last_used_at_millis"].clone()).collect();
    assert_eq!(used, vec![json!(app.now().as_millisecond()); 5]);
}

#[tokio::test]
async fn removing_an_app_leaves_the_others_and_the_last_one_ends_the_factor() {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let ((first, one), (second, two)) = (set_up(&app, &ada).await, set_up(&app, &ada).await);
    let path = |added: &Value| format!("{PATH}/{}", added["id"].as_str().unwrap());
    let renamed = app.signed_in(&ada).patch(&path(&two), json!({ "name": "Tablet" })).await;
    assert_eq!((renamed.status(), &renamed.json()["name"]), (200, &json!("Tablet")));
    assert_eq!(app.signed_in(&ada).request("DELETE", &path(&one)).send().await.json(), json!({ "success": true }));
    assert_error(&app.signed_in(&ada).request("DELETE", &path(&one)).send().await, 404, "AUTHENTICATOR_NOT_FOUND");
    next_step(&app);
    let left_apps = apps(&app, &ada).await;
    assert_eq!((left_apps.len(), &left_apps[0]["name"]), (1, &json!("Tablet")));
    assert_eq!(left(&app, &ada).await, 10);
    let waiting = attempt(&app, ADA).await;
    assert_error(&sign_in(&app, &waiting, &first.shows(&app)).await, 400, "INVALID_TOTP_CODE");
    assert_eq!(sign_in(&app, &waiting, &second.shows(&app)).await.status(), 200);

    assert_eq!(app.signed_in(&ada).request("DELETE", &path(&two)).send().await.status(), 200);
    assert_eq!((requires_code(&app, &ada).await, left(&app, &ada).await), (json!(false), json!(0)));
    let again = app.client().post("/api/v1/auth/password/sign-in", json!({ "email": ADA, "password": "correct horse battery" })).await;
    assert_eq!(again.status(), 200, "{}", again.text());
}

#[tokio::test]
async fn updating_the_user_as_the_sdk_does_replaces_or_removes_all_apps() {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let (first, _) = set_up(&app, &ada).await;
    set_up(&app, &ada).await;
    let secret = b"a secret of the SDK's".to_vec();
    let set = app.signed_in(&ada).patch(ME, json!({ "totp_secret_base64": STANDARD.encode(&secret) })).await;
    assert_eq!(set.json()["requires_totp_mfa"], true);
    next_step(&app);
    let only = apps(&app, &ada).await;
    assert_eq!((only.len(), &only[0]["name"], left(&app, &ada).await), (1, &Value::Null, json!(0)));
    let waiting = attempt(&app, ADA).await;
    assert_error(&sign_in(&app, &waiting, &first.shows(&app)).await, 400, "INVALID_TOTP_CODE");
    assert_eq!(sign_in(&app, &waiting, &authenticator_code(&secret, app.now().as_second())).await.status(), 200);
    app.signed_in(&ada).patch(ME, json!({ "totp_secret_base64": null })).await;
    assert_eq!(apps(&app, &ada).await.len(), 0);
}

#[tokio::test]
async fn an_app_is_out_of_reach_for_other_users_and_servers() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up(ADA).await, app.sign_up("bob@example.com").await);
    let (_, added) = set_up(&app, &ada).await;
    let path = format!("{PATH}/{}", added["id"].as_str().unwrap());
    let server = app.server();
    assert_error(&app.signed_in(&bob).request("DELETE", &path).send().await, 404, "AUTHENTICATOR_NOT_FOUND");
    assert_error(&app.signed_in(&bob).patch(&path, json!({ "name": "Mine" })).await, 404, "AUTHENTICATOR_NOT_FOUND");
    for (method, path) in [("POST", PATH), ("GET", PATH), ("PATCH", &path), ("DELETE", &path), ("POST", VERIFY)] {
        let body = match (method, path) {
            ("PATCH", _) => json!({ "name": "Mine" }),
            (_, VERIFY) => json!({ "code": "a".repeat(45), "totp": "000000" }),
            _ => json!({}),
        };
        assert_takes_client_access(&app, method, path).await;
        assert_error(&server.request(method, path).json(&body).send().await, 401, "USER_AUTHENTICATION_REQUIRED");
    }
    assert_eq!(apps(&app, &ada).await[0]["name"], Value::Null);
    let names = ["", " ", &"n".repeat(65), "a\u{202e}b", "two\nlines"];
    for name in names {
        assert_eq!(problems(&app.signed_in(&ada).patch(&path, json!({ "name": name })).await).len(), 1, "{name:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_first_apps_one_comes_with_recovery_codes() {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    let (one, two) = (begin(&app, &ada).await, begin(&app, &ada).await);
    let (first, second) = (one.shows(&app), two.shows(&app));
    let (first, second, again) =
        tokio::join!(verify(&app, &ada, &one.code, &first), verify(&app, &ada, &two.code, &second), verify(&app, &ada, &one.code, &first));
    let answers = [first, again, second];
    let successes: Vec<&Answer> = answers.iter().filter(|answer| answer.status() == 201).collect();
    assert_eq!(successes.len(), 2, "{:?}", answers.each_ref().map(Answer::text));
    assert_eq!(successes.iter().filter(|answer| answer.json()["recovery_codes"].is_array()).count(), 1);
    assert_eq!((apps(&app, &ada).await.len(), left(&app, &ada).await), (2, json!(10)));
    let set = successes.iter().find(|answer| answer.json()["recovery_codes"].is_array()).unwrap().json();
    assert_eq!(recover(&app, set["recovery_codes"][0].as_str().unwrap()).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_sign_ins_with_a_code_of_another_app_one_succeeds() {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    set_up(&app, &ada).await;
    let (phone, _) = set_up(&app, &ada).await;
    next_step(&app);
    let attempts = [attempt(&app, ADA).await, attempt(&app, ADA).await, attempt(&app, ADA).await];
    let totp = phone.shows(&app);
    let answers = futures_util::future::join_all(attempts.iter().map(|attempt| sign_in(&app, attempt, &totp))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), 1);
    answers.iter().filter(|answer| answer.status() != 200).for_each(|answer| drop(assert_error(answer, 400, "INVALID_TOTP_CODE")));
}

#[tokio::test]
async fn the_app_of_an_earlier_version_is_listed_renamed_and_removed() {
    let app = TestApp::start().await;
    let ada = user_with_app(&app, ADA).await;
    // An item of an earlier version, with one app that lacks an id, a name and a time of use.
    let row = app.app.store.user(app.project_id(), UserId::parse(&ada.user_id).unwrap()).await.unwrap().unwrap();
    let mut user = row.user.clone();
    let stored = serde_json::to_value(user.totp.as_ref().unwrap()).unwrap();
    let old = json!({ "secret": stored["secret"], "last_step": 0, "set_at": stored["set_at"] });
    user.totp = Some(serde_json::from_value(old).unwrap());
    app.app.store.change_account(app.project_id(), &row, &user, Vec::new()).await.unwrap();

    let nil = "00000000-0000-0000-0000-000000000000";
    let listed = apps(&app, &ada).await;
    assert_eq!(listed, [json!({ "id": nil, "name": null, "created_at_millis": stored["set_at"], "last_used_at_millis": null })]);
    let (phone, _) = set_up(&app, &ada).await;
    next_step(&app);
    let old_code = super::mfa_sign_in::now_code(&app);
    for totp in [&old_code, &phone.shows(&app)] {
        assert_eq!(sign_in(&app, &attempt(&app, ADA).await, totp).await.status(), 200);
    }
    assert_error(&sign_in(&app, &attempt(&app, ADA).await, &old_code).await, 400, "INVALID_TOTP_CODE");
    let path = format!("{PATH}/{nil}");
    assert_eq!(app.signed_in(&ada).patch(&path, json!({ "name": "Old" })).await.json()["name"], "Old");
    assert_eq!(app.signed_in(&ada).request("DELETE", &path).send().await.status(), 200);
    assert_eq!(apps(&app, &ada).await.len(), 1);
}
