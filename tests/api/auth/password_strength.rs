//! Rules for new passwords, and different encodings of the same password.

use crypto::password::hash::{Hash, Hasher};
use model::limit::Limits;
use model::user::User;
use serde_json::{Value, json};
use store::user;
use support::{Answer, SignedInUser, TestApp};
use wire::id::UserId;

use super::assert_error;

const SIGN_UP: &str = "/api/v1/auth/password/sign-up";
const SIGN_IN: &str = "/api/v1/auth/password/sign-in";
const SET: &str = "/api/v1/auth/password/set";
const UPDATE: &str = "/api/v1/auth/password/update";
const RESET: &str = "/api/v1/auth/password/reset";
const GOOD: &str = "correct horse battery";
/// `café au lait`, in the two encodings that keyboards produce.
const COMPOSED: &str = "caf\u{e9} au lait";
const DECOMPOSED: &str = "cafe\u{301} au lait";

/// Asserts that a password is rejected as easy to guess, with the error that the SDKs expect.
#[track_caller]
fn assert_weak(answer: &Answer, reason: &str) {
    let details = assert_error(answer, 400, "PASSWORD_REQUIREMENTS_NOT_MET");
    assert_eq!(details, json!({ "reason": reason, "message": answer.json()["error"] }));
    assert_eq!(answer.header("x-stack-known-error"), Some("PASSWORD_REQUIREMENTS_NOT_MET"));
}

async fn sign_up(app: &TestApp, email: &str, password: &str) -> Answer {
    app.client().post(SIGN_UP, json!({ "email": email, "password": password })).await
}

async fn sign_in(app: &TestApp, email: &str, password: &str) -> Answer {
    app.client().post(SIGN_IN, json!({ "email": email, "password": password })).await
}

async fn reset_code(app: &TestApp, email: &str) -> String {
    let body = json!({ "email": email, "callback_url": "http://localhost:3000/reset" });
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", body).await.status(), 200);
    app.last_mail(email).await.code()
}

/// The start of a hash, which contains the algorithm and the cost.
async fn cost_of_hash(app: &TestApp, user: &SignedInUser) -> String {
    let hash = stored_hash(app, user).await;
    hash.as_str().unwrap().split('$').skip(1).take(3).collect::<Vec<_>>().join("$")
}

#[tokio::test]
async fn a_sign_in_replaces_a_hash_that_costs_less_than_the_setting() {
    let app = TestApp::start_hashing(Limits::off(), Hasher::new(128, 2)).await;
    let ada = app.sign_up("ada@example.com").await;
    let setting = "argon2id$v=19$m=128,t=2,p=1";
    // The first hash has less memory and fewer passes. The second has only less memory, and the
    // third has only fewer passes. The remaining hashes, made before the setting changed, cost as
    // much as new ones or more.
    for (memory, passes, renewed) in [
        (64, 1, setting),
        (64, 2, setting),
        (128, 1, setting),
        (256, 1, "argon2id$v=19$m=256,t=1,p=1"),
        (64, 5, "argon2id$v=19$m=64,t=5,p=1"),
        (256, 3, "argon2id$v=19$m=256,t=3,p=1"),
    ] {
        let password = "correct horse battery".to_owned().into();
        let hash = Hasher::new(memory, passes).hash(&app.app.entropy, &password).await;
        give_hash(&app, &ada, &serde_json::to_value(hash).unwrap()).await;
        let before = stored_hash(&app, &ada).await;
        assert_eq!(sign_in(&app, "ada@example.com", "wrong horse battery").await.status(), 400);
        assert_eq!(stored_hash(&app, &ada).await, before, "a wrong password changes nothing");
        for _ in 0..2 {
            assert_eq!(sign_in(&app, "ada@example.com", "correct horse battery").await.status(), 200);
            assert_eq!(cost_of_hash(&app, &ada).await, renewed);
        }
    }
}

/// Stores this hash as the user's password hash, without a request. The password may therefore be
/// weak or encoded differently, and the hash may have a different cost.
async fn give_hash(app: &TestApp, user: &SignedInUser, hash: &Value) {
    let (project, id) = (app.project_id(), UserId::parse(&user.user_id).unwrap());
    let row = app.app.store.user(project, id).await.unwrap().unwrap();
    let hash: Hash = serde_json::from_value(hash.clone()).unwrap();
    let user = User { password: Some(hash), ..row.user };
    app.app.store.write(user::replace(project, &user, row.version).unwrap()).await.unwrap();
}

async fn stored_hash(app: &TestApp, user: &SignedInUser) -> Value {
    let id = UserId::parse(&user.user_id).unwrap();
    serde_json::to_value(app.app.store.user(app.project_id(), id).await.unwrap().unwrap().user.password).unwrap()
}

/// The argon2id hash of exactly these bytes.
async fn hash_of(app: &TestApp, text: &str) -> Value {
    serde_json::to_value(app.app.hasher.hash(&app.app.entropy, &text.to_owned().into()).await).unwrap()
}

#[tokio::test]
async fn common_passwords_are_rejected_everywhere() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_in_by_mail("bob@example.com").await);
    let code = reset_code(&app, "ada@example.com").await;
    let me = app.server().with("x-stack-access-token", &ada.access_token);
    for weak in ["password", "Password1", "12345678a", "iloveyou!"] {
        let one = json!({ "password": weak });
        assert_weak(&sign_up(&app, "eve@example.com", weak).await, "common");
        assert_weak(&app.signed_in(&bob).post(SET, one.clone()).await, "common");
        assert_weak(&app.signed_in(&ada).post(UPDATE, json!({ "old_password": GOOD, "new_password": weak })).await, "common");
        assert_weak(&app.client().post(RESET, json!({ "code": code, "password": weak })).await, "common");
        assert_weak(&app.server().patch(&format!("/api/v1/users/{}", bob.user_id), one.clone()).await, "common");
        assert_weak(&me.patch("/api/v1/users/me", one).await, "common");
    }
    // The password is unchanged, and the code is still valid.
    app.sign_in("ada@example.com").await;
    assert_error(&sign_in(&app, "bob@example.com", "password").await, 400, "EMAIL_PASSWORD_MISMATCH");
    assert_error(&sign_in(&app, "eve@example.com", "password").await, 400, "EMAIL_PASSWORD_MISMATCH");
    assert_eq!(app.client().post(RESET, json!({ "code": code, "password": "another battery" })).await.status(), 200);
}

#[tokio::test]
async fn a_password_derived_from_the_account_is_rejected() {
    let app = TestApp::start().await;
    app.configure(json!({ "display_name": "Analytical Engines" })).await;
    let email = "ada.lovelace@example.com";
    let cases = [
        (email, "address"),
        ("Ada.Lovelace", "address"),
        ("AnalyticalEngines", "project_name"),
        ("aaaaaaaaaa", "sequence"),
        ("23456789", "sequence"),
        ("ihgfedcba", "sequence"),
        ("Qwertyuiop", "sequence"),
    ];
    for (password, reason) in cases {
        assert_weak(&sign_up(&app, email, password).await, reason);
    }
    let ada = app.sign_up(email).await;
    for (password, reason) in cases {
        let change = json!({ "old_password": GOOD, "new_password": password });
        assert_weak(&app.signed_in(&ada).post(UPDATE, change).await, reason);
        let change = json!({ "password": password });
        assert_weak(&app.server().patch(&format!("/api/v1/users/{}", ada.user_id), change).await, reason);
    }
    // A different account may use this password.
    assert_eq!(sign_up(&app, "bob@example.com", "ada.lovelace").await.status(), 200);
}

#[tokio::test]
async fn an_existing_weak_password_still_signs_in() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    give_hash(&app, &ada, &hash_of(&app, "password").await).await;
    assert_eq!(sign_in(&app, "ada@example.com", "password").await.status(), 200);
    let change = json!({ "old_password": "password", "new_password": GOOD });
    assert_eq!(app.signed_in(&ada).post(UPDATE, change).await.status(), 200);
}

#[tokio::test]
async fn composed_and_decomposed_unicode_passwords_are_equal() {
    let app = TestApp::start().await;
    for (email, chosen) in [("ada@example.com", COMPOSED), ("bob@example.com", DECOMPOSED)] {
        assert_eq!(sign_up(&app, email, chosen).await.status(), 200);
        let mut user = None;
        for typed in [COMPOSED, DECOMPOSED] {
            let answer = sign_in(&app, email, typed).await;
            assert_eq!(answer.status(), 200, "{email}");
            user = Some(SignedInUser::of(email, &answer.json()));
        }
        let change = json!({ "old_password": DECOMPOSED, "new_password": GOOD });
        assert_eq!(app.signed_in(&user.unwrap()).post(UPDATE, change).await.status(), 200);
        assert_error(&sign_in(&app, email, DECOMPOSED).await, 400, "EMAIL_PASSWORD_MISMATCH");
    }
}

#[tokio::test]
async fn a_hash_of_the_decomposed_form_is_accepted_and_rehashed() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let old = hash_of(&app, DECOMPOSED).await;
    give_hash(&app, &ada, &old).await;
    assert_error(&sign_in(&app, "ada@example.com", COMPOSED).await, 400, "EMAIL_PASSWORD_MISMATCH");
    assert_eq!(stored_hash(&app, &ada).await, old);
    assert_eq!(sign_in(&app, "ada@example.com", DECOMPOSED).await.status(), 200);
    assert_ne!(stored_hash(&app, &ada).await, old);
    for typed in [COMPOSED, DECOMPOSED] {
        assert_eq!(sign_in(&app, "ada@example.com", typed).await.status(), 200);
    }
}

#[tokio::test]
async fn too_expensive_hashes_are_rejected_and_the_maximum_cost_is_recorded() {
    let app = TestApp::start().await;
    let cost = async || app.app.store.project(app.project_id()).await.unwrap().unwrap().project.dearest_bcrypt_cost;
    let hash_at = |cost| bcrypt::hash("another battery", cost).unwrap();
    let import = async |hash: String| app.server().post("/api/v1/users", json!({ "password_hash": hash })).await;

    let refused = import(hash_at(4).replacen("$04$", "$13$", 1)).await;
    assert!(assert_error(&refused, 400, "SCHEMA_ERROR")["message"].as_str().unwrap().contains("cost from 4 to 12"));
    assert_eq!(cost().await, None);
    for (imported, dearest) in [(6, 6), (5, 6), (7, 7)] {
        assert_eq!(import(hash_at(imported)).await.status(), 201);
        assert_eq!(cost().await, Some(dearest));
    }
    app.configure(json!({ "display_name": "Looms" })).await;
    assert_eq!(cost().await, Some(7), "changing the project keeps the recorded cost");

    let ada = app.sign_up("ada@example.com").await;
    give_hash(&app, &ada, &json!(hash_at(8))).await;
    assert_error(&sign_in(&app, "ada@example.com", "wrong battery").await, 400, "EMAIL_PASSWORD_MISMATCH");
    assert_eq!(cost().await, Some(8), "a wrong password raises the recorded cost, too");
    assert_eq!(sign_in(&app, "ada@example.com", "another battery").await.status(), 200);
    assert!(stored_hash(&app, &ada).await.as_str().unwrap().starts_with("$argon2id$"));
}
